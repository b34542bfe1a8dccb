package main

import (
	"bytes"
	"context"
	"fmt"
	"net"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	pb "google.golang.org/grpc/interop/grpc_testing"

	"weft/internal/perf/services"
)

var grpcProtocol = services.Protocol{Name: "grpc", What: "unary gRPC, 64 bytes", Bytes: 64, Serve: serveGRPC, Clients: grpcClients}

// An echo is gRPC's own test service, as far as it is needed.
type echo struct {
	pb.UnimplementedTestServiceServer
}

// UnaryCall answers with what it is given.
func (echo) UnaryCall(_ context.Context, r *pb.SimpleRequest) (*pb.SimpleResponse, error) {
	return &pb.SimpleResponse{Payload: r.Payload}, nil
}

func serveGRPC(l net.Listener) error {
	s := grpc.NewServer()
	pb.RegisterTestServiceServer(s, echo{})
	return s.Serve(l)
}

func grpcClients(n int, dial func(context.Context) (net.Conn, error)) (request []func() error, end func(), err error) {
	var conns []*grpc.ClientConn
	end = func() {
		for _, c := range conns {
			c.Close()
		}
	}
	for range n {
		c, err := grpc.NewClient("passthrough:///service", grpc.WithTransportCredentials(insecure.NewCredentials()),
			grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return dial(ctx) }))
		if err != nil {
			end()
			return nil, nil, err
		}
		conns = append(conns, c)
		client := pb.NewTestServiceClient(c)
		ask := &pb.SimpleRequest{Payload: &pb.Payload{Body: bytes.Repeat([]byte{'w'}, 64)}}
		request = append(request, func() error {
			answer, err := client.UnaryCall(context.Background(), ask, grpc.WaitForReady(true))
			if err != nil {
				return err
			}
			if !bytes.Equal(answer.Payload.Body, ask.Payload.Body) {
				return fmt.Errorf("the answer has %d bytes, or others", len(answer.Payload.Body))
			}
			return nil
		})
	}
	return request, end, nil
}
