package weftgrpc

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/health"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"

	"weft/stream"
)

// serve serves gRPC's health service until the test ends, and returns what each call has known about its peer.
func serve(t *testing.T, address string) <-chan stream.Peer {
	t.Helper()
	known := make(chan stream.Peer, 100)
	server := grpc.NewServer(grpc.Creds(Creds()), grpc.UnaryInterceptor(
		func(ctx context.Context, req any, _ *grpc.UnaryServerInfo, next grpc.UnaryHandler) (any, error) {
			p, _ := Peer(ctx)
			known <- p
			return next(ctx, req)
		}))
	healthpb.RegisterHealthServer(server, health.NewServer())
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- Serve(ctx, address, server) }()
	t.Cleanup(func() {
		cancel()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	return known
}

// token is a credential of calls that may be sent only where it is private.
type token struct{}

func (token) GetRequestMetadata(context.Context, ...string) (map[string]string, error) {
	return map[string]string{"token": "secret"}, nil
}
func (token) RequireTransportSecurity() bool { return true }

// TestPeers: a handler knows the process that calls, and the client the one that answers; tokens that need a secure
// connection are sent.
func TestPeers(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	known := serve(t, path)
	conn, err := Dial(path, grpc.WithPerRPCCredentials(token{}))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	var at peer.Peer
	reply, err := healthpb.NewHealthClient(conn).Check(t.Context(), &healthpb.HealthCheckRequest{}, grpc.Peer(&at),
		grpc.WaitForReady(true))
	if err != nil || reply.Status != healthpb.HealthCheckResponse_SERVING {
		t.Fatal(reply, err)
	}
	me := stream.Peer{PID: os.Getpid(), UID: os.Geteuid()}
	if p := <-known; p != me {
		t.Errorf("the handler knows %+v", p)
	}
	info, ok := at.AuthInfo.(AuthInfo)
	if !ok || info.Peer() != me || info.SecurityLevel != credentials.PrivacyAndIntegrity {
		t.Errorf("the client knows %+v", at.AuthInfo)
	}
	f, err := info.Conn.(*stream.Conn).PIDFD()
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
	if p, ok := Peer(t.Context()); ok {
		t.Errorf("%+v without a call", p)
	}
}

// TestOtherConnections: the credentials refuse connections that are not weft's.
func TestOtherConnections(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer()
	defer server.Stop()
	go server.Serve(l)
	conn, err := grpc.NewClient(l.Addr().String(), grpc.WithTransportCredentials(Creds()))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_, err = healthpb.NewHealthClient(conn).Check(t.Context(), &healthpb.HealthCheckRequest{})
	if status.Code(err) != codes.Unavailable {
		t.Errorf("%v", err)
	}
}

// TestBetweenHosts: the same over TLS.
func TestBetweenHosts(t *testing.T) {
	cfg := &stream.Config{Key: make([]byte, stream.MinKey)}
	l, err := cfg.Listen(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer(grpc.Creds(Creds()))
	healthpb.RegisterHealthServer(server, health.NewServer())
	defer server.Stop()
	go server.Serve(l)
	conn, err := DialWith(cfg, l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := healthpb.NewHealthClient(conn).Check(t.Context(), &healthpb.HealthCheckRequest{}); err != nil {
		t.Error(err)
	}
}
