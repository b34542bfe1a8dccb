package services

import (
	"bytes"
	"context"
	"io"
	"net"
	"testing"
	"time"

	pb "google.golang.org/grpc/interop/grpc_testing"

	"weft"
	"weft/stream"
)

// TestGRPCSimulated: gRPC runs unchanged between two ranks of a simulated cluster that loses a packet in ten: unary
// calls and streams.
func TestGRPCSimulated(t *testing.T) {
	nets := make([]*stream.Network, 2)
	opened := make(chan bool, 2)
	done := make(chan bool)
	s, err := weft.Simulate(t.Context(), weft.Cluster{Ranks: 2, Loss: 0.1, Seed: 1}, func(ctx context.Context,
		p *weft.Proc) error {
		n, err := stream.Open(p, 5)
		if err != nil {
			return err
		}
		nets[p.Rank()] = n
		opened <- true
		if p.Rank() == 1 {
			awake, cancel := context.WithCancel(ctx)
			p.Go(func() { // gRPC has timers of package time, for which the cluster would not wait
				for p.Sleep(awake, 10*time.Second) == nil {
				}
			})
			<-done
			cancel()
			return n.Close()
		}
		defer n.Close()
		defer close(done)
		<-opened
		<-opened
		callAll(t, nets)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if s.Lost == 0 {
		t.Error("nothing was lost")
	}
}

func callAll(t *testing.T, nets []*stream.Network) {
	l, err := nets[1].Listen()
	if err != nil {
		t.Error(err)
		return
	}
	client, _, end := serving(t, l, func(ctx context.Context) (net.Conn, error) { return nets[0].Dial(ctx, 1) })
	defer end()
	for _, n := range []int{0, 64, 100000} {
		answer, err := client.UnaryCall(t.Context(), &pb.SimpleRequest{Payload: payload(n)})
		if err != nil {
			t.Error(err)
			return
		}
		if !bytes.Equal(answer.Payload.Body, payload(n).Body) {
			t.Errorf("%d bytes: the answer has %d", n, len(answer.Payload.Body))
		}
	}
	calls, err := client.FullDuplexCall(t.Context())
	if err != nil {
		t.Error(err)
		return
	}
	for i := range 20 {
		if err := calls.Send(&pb.StreamingOutputCallRequest{Payload: payload(1000 * i)}); err != nil {
			t.Error(err)
			return
		}
		if answer, err := calls.Recv(); err != nil || len(answer.Payload.Body) != len(payload(1000*i).Body) {
			t.Errorf("message %d: %v", i, err)
			return
		}
	}
	calls.CloseSend()
	if _, err := calls.Recv(); err != io.EOF {
		t.Errorf("the stream ends with %v", err)
	}
}
