package main

import (
	"bytes"
	"context"
	"fmt"
	"net"

	pb "google.golang.org/grpc/interop/grpc_testing"
	"google.golang.org/protobuf/proto"
	"storj.io/drpc"
	"storj.io/drpc/drpcconn"
	"storj.io/drpc/drpcserver"

	"weft/internal/perf/services"
)

var drpcProtocol = services.Protocol{Name: "drpc", What: "unary DRPC, 64 bytes", Bytes: 64, Serve: serveDRPC, Clients: drpcClients}

// An encoding is protobuf's: the messages are those of gRPC's measurement.
type encoding struct{}

func (encoding) Marshal(m drpc.Message) ([]byte, error) { return proto.Marshal(m.(proto.Message)) }
func (encoding) Unmarshal(b []byte, m drpc.Message) error {
	return proto.Unmarshal(b, m.(proto.Message))
}

// An answerer answers each call with what it is given.
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

func drpcClients(n int, dial func(context.Context) (net.Conn, error)) (request []func() error, end func(), err error) {
	var conns []*drpcconn.Conn
	end = func() {
		for _, c := range conns {
			c.Close()
		}
	}
	for range n {
		conn, err := dial(context.Background())
		if err != nil {
			end()
			return nil, nil, err
		}
		c := drpcconn.New(conn)
		conns = append(conns, c)
		ask := &pb.SimpleRequest{Payload: &pb.Payload{Body: bytes.Repeat([]byte{'w'}, 64)}}
		request = append(request, func() error {
			var answer pb.SimpleResponse
			if err := c.Invoke(context.Background(), "/echo", encoding{}, ask, &answer); err != nil {
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
