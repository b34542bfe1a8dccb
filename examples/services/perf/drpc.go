package main

import (
	"context"
	"net"

	pb "google.golang.org/grpc/interop/grpc_testing"
	"google.golang.org/protobuf/proto"
	"storj.io/drpc"
	"storj.io/drpc/drpcconn"
	"storj.io/drpc/drpcserver"

	"weft/lab/perf/services"
)

var drpcProtocol = services.Protocol{
	Name: "drpc", What: "unary DRPC, 64 bytes", Bytes: 64, Serve: serveDRPC, Clients: drpcClients,
}

// encoding is protobuf's; the messages are those of the measurement of gRPC.
type encoding struct{}

func (encoding) Marshal(m drpc.Message) ([]byte, error) { return proto.Marshal(m.(proto.Message)) }
func (encoding) Unmarshal(b []byte, m drpc.Message) error {
	return proto.Unmarshal(b, m.(proto.Message))
}

// An answerer answers each call with its argument.
type answerer struct{}

// HandleRPC handles a call.
func (answerer) HandleRPC(s drpc.Stream, _ string) error {
	var r pb.SimpleRequest
	if err := s.MsgRecv(&r, encoding{}); err != nil {
		return err
	}
	return s.MsgSend(&pb.SimpleResponse{Payload: r.Payload}, encoding{})
}

func serveDRPC(l net.Listener) error {
	return drpcserver.New(answerer{}).Serve(context.Background(), l)
}

func drpcClients(n int, dial services.Dial) (request []func() error, end func(), err error) {
	return services.OpenClients(n, func() (func() error, func() error, error) {
		conn, err := dial(context.Background())
		if err != nil {
			return nil, nil, err
		}
		c := drpcconn.New(conn)
		ask := &pb.SimpleRequest{Payload: &pb.Payload{Body: services.EchoBody()}}
		return func() error {
			var answer pb.SimpleResponse
			if err := c.Invoke(context.Background(), "/echo", encoding{}, ask, &answer); err != nil {
				return err
			}
			return services.CheckEcho(answer.Payload.Body, ask.Payload.Body)
		}, c.Close, nil
	})
}
