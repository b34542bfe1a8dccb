package services

import (
	"bytes"
	"context"
	"io"
	"net"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/credentials/local"
	pb "google.golang.org/grpc/interop/grpc_testing"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/status"

	"weft/stream"
)

// service is the part of gRPC's own test service that is needed here.
type service struct {
	pb.UnimplementedTestServiceServer
	waits, cancelled chan bool // a call of EmptyCall has begun, has ended
}

// UnaryCall answers with the payload of the request.
func (s *service) UnaryCall(_ context.Context, r *pb.SimpleRequest) (*pb.SimpleResponse, error) {
	return &pb.SimpleResponse{Payload: r.Payload}, nil
}

// EmptyCall waits until the client cancels.
func (s *service) EmptyCall(ctx context.Context, _ *pb.Empty) (*pb.Empty, error) {
	s.waits <- true
	<-ctx.Done()
	s.cancelled <- true
	return nil, ctx.Err()
}

// FullDuplexCall answers each message with its payload.
func (s *service) FullDuplexCall(calls grpc.BidiStreamingServer[pb.StreamingOutputCallRequest,
	pb.StreamingOutputCallResponse]) error {
	for {
		r, err := calls.Recv()
		if err == io.EOF {
			return nil
		}
		if err == nil {
			err = calls.Send(&pb.StreamingOutputCallResponse{Payload: r.Payload})
		}
		if err != nil {
			return err
		}
	}
}

const largest = 5 << 20

// serve starts the service, and returns a client of it.
func serve(t testing.TB, l net.Listener, dial func(context.Context) (net.Conn, error)) (pb.TestServiceClient,
	*service) {
	client, s, end := serving(t, l, dial)
	t.Cleanup(end)
	return client, s
}

// serving is serve, and also returns a function that ends both.
func serving(t testing.TB, l net.Listener, dial func(context.Context) (net.Conn, error)) (pb.TestServiceClient,
	*service, func()) {
	t.Helper()
	s := &service{waits: make(chan bool, 1), cancelled: make(chan bool, 1)}
	server := grpc.NewServer(grpc.MaxRecvMsgSize(largest),
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: time.Millisecond, PermitWithoutStream: true}))
	pb.RegisterTestServiceServer(server, s)
	go server.Serve(l)
	client, err := grpc.NewClient("passthrough:///weft", grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return dial(ctx) }),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(largest)),
		grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: 10 * time.Second, Timeout: 10 * time.Second,
			PermitWithoutStream: true}))
	if err != nil {
		t.Fatal(err)
	}
	return pb.NewTestServiceClient(client), s, func() {
		client.Close()
		server.Stop()
	}
}

func payload(n int) *pb.Payload {
	return &pb.Payload{Body: bytes.Repeat([]byte{'w', 'e', 'f', 't'}, n/4)}
}

func TestGRPC(t *testing.T) {
	l, dial := listen(t)
	client, s := serve(t, l, dial)
	for _, n := range []int{0, 64, 100000, 4 << 20} {
		answer, err := client.UnaryCall(t.Context(), &pb.SimpleRequest{Payload: payload(n)})
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(answer.Payload.Body, payload(n).Body) {
			t.Errorf("%d bytes: the answer has %d", n, len(answer.Payload.Body))
		}
	}
	calls, err := client.FullDuplexCall(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for i := range 200 {
		if err := calls.Send(&pb.StreamingOutputCallRequest{Payload: payload(1000 * i)}); err != nil {
			t.Fatal(err)
		}
		answer, err := calls.Recv()
		if err != nil || len(answer.Payload.Body) != len(payload(1000*i).Body) {
			t.Fatalf("message %d: %v", i, err)
		}
	}
	calls.CloseSend()
	if _, err := calls.Recv(); err != io.EOF {
		t.Errorf("the stream ends with %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-s.waits
		cancel()
	}()
	if _, err := client.EmptyCall(ctx, new(pb.Empty)); status.Code(err) != codes.Canceled {
		t.Errorf("a call that is cancelled: %v", err)
	}
	<-s.cancelled // the server has heard of it
	ctx, cancel = context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if _, err := client.EmptyCall(ctx, new(pb.Empty)); status.Code(err) != codes.DeadlineExceeded {
		t.Errorf("a call with a deadline: %v", err)
	}
}

// TestGRPCKeepalive: a server asks a client that says nothing whether it lives. A client that answers keeps its
// connection; one that does not loses it.
func TestGRPCKeepalive(t *testing.T) {
	l, dial := listen(t)
	server := grpc.NewServer(grpc.KeepaliveParams(keepalive.ServerParameters{Time: time.Second, Timeout: time.Second}))
	go server.Serve(l)
	defer server.Stop()
	c, err := dial(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := io.WriteString(c, http2.ClientPreface); err != nil {
		t.Fatal(err)
	}
	frames := http2.NewFramer(c, c)
	if err := frames.WriteSettings(); err != nil {
		t.Fatal(err)
	}
	const answered = 2 // questions, and no more
	for asked := 0; ; {
		frame, err := frames.ReadFrame()
		if err == io.EOF && asked > answered {
			return
		}
		if err != nil {
			t.Fatalf("after %d questions: %v", asked, err)
		}
		ping, ok := frame.(*http2.PingFrame)
		if !ok {
			continue
		}
		if asked++; asked <= answered {
			if err := frames.WritePing(true, ping.Data); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func BenchmarkUnary(b *testing.B) {
	systems := map[string]func(testing.TB) (net.Listener, func(context.Context) (net.Conn, error)){
		"weft": listen,
		"weft asleep": func(t testing.TB) (net.Listener, func(context.Context) (net.Conn, error)) {
			cfg := &stream.Config{Spin: -1}
			l, err := cfg.Listen(t.Context(), t.TempDir()+"/s")
			if err != nil {
				t.Fatal(err)
			}
			return l, func(ctx context.Context) (net.Conn, error) { return cfg.Dial(ctx, l.Addr().String()) }
		},
		"unix": func(t testing.TB) (net.Listener, func(context.Context) (net.Conn, error)) {
			l, err := net.Listen("unix", t.TempDir()+"/s")
			if err != nil {
				t.Fatal(err)
			}
			return l, func(ctx context.Context) (net.Conn, error) {
				return new(net.Dialer).DialContext(ctx, "unix", l.Addr().String())
			}
		},
	}
	for name, system := range systems {
		b.Run(name, func(b *testing.B) {
			l, dial := system(b)
			client, _ := serve(b, l, dial)
			r := &pb.SimpleRequest{Payload: payload(64)}
			for b.Loop() {
				if _, err := client.UnaryCall(b.Context(), r); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// TestGRPCLocal: gRPC's credentials for connections that stay on the host take a stream for what it is, at both ends.
func TestGRPCLocal(t *testing.T) {
	l, dial := listen(t)
	server := grpc.NewServer(grpc.Creds(local.NewCredentials()))
	pb.RegisterTestServiceServer(server, new(service))
	go server.Serve(l)
	defer server.Stop()
	client, err := grpc.NewClient("passthrough:///weft", grpc.WithTransportCredentials(local.NewCredentials()),
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return dial(ctx) }))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	if _, err := pb.NewTestServiceClient(client).UnaryCall(t.Context(), new(pb.SimpleRequest)); err != nil {
		t.Error(err)
	}
}
