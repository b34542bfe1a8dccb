package main

import (
	"context"
	"net"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	pb "google.golang.org/grpc/interop/grpc_testing"

	"weft/lab/perf/services"
)

var grpcProtocol = services.Protocol{
	Name: "grpc", What: "unary gRPC, 64 bytes", Bytes: 64, Serve: serveGRPC, Clients: grpcClients,
}

// An echo is the part of gRPC's own test service that is needed here.
type echo struct {
	pb.UnimplementedTestServiceServer
}

// UnaryCall answers with the payload of the request.
func (echo) UnaryCall(_ context.Context, r *pb.SimpleRequest) (*pb.SimpleResponse, error) {
	return &pb.SimpleResponse{Payload: r.Payload}, nil
}

func serveGRPC(l net.Listener) error {
	s := grpc.NewServer()
	pb.RegisterTestServiceServer(s, echo{})
	return s.Serve(l)
}

func grpcClients(n int, dial services.Dial) (request []func() error, end func(), err error) {
	dialer := grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return dial(ctx) })
	plain := grpc.WithTransportCredentials(insecure.NewCredentials())
	return services.OpenClients(n, func() (func() error, func() error, error) {
		c, err := grpc.NewClient("passthrough:///service", plain, dialer)
		if err != nil {
			return nil, nil, err
		}
		client := pb.NewTestServiceClient(c)
		ask := &pb.SimpleRequest{Payload: &pb.Payload{Body: services.EchoBody()}}
		return func() error {
			answer, err := client.UnaryCall(context.Background(), ask, grpc.WaitForReady(true))
			if err != nil {
				return err
			}
			return services.CheckEcho(answer.Payload.Body, ask.Payload.Body)
		}, c.Close, nil
	})
}
