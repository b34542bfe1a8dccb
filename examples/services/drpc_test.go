package services

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"testing"

	"storj.io/drpc"
	"storj.io/drpc/drpcconn"
	"storj.io/drpc/drpcserver"
)

// raw is an encoding for messages that are plain bytes.
type raw struct{}

func (raw) Marshal(m drpc.Message) ([]byte, error) { return *m.(*[]byte), nil }

func (raw) Unmarshal(b []byte, m drpc.Message) error {
	*m.(*[]byte) = bytes.Clone(b)
	return nil
}

// drpcService answers each message with its text, or with an error.
type drpcService struct{ waits, cancelled chan bool }

// HandleRPC handles a call.
func (s drpcService) HandleRPC(stream drpc.Stream, method string) error {
	switch method {
	case "/fail":
		return errors.New("as asked")
	case "/wait":
		var m []byte
		if err := stream.MsgRecv(&m, raw{}); err != nil { // else DRPC would not hear of the end
			return err
		}
		close(s.waits)
		<-stream.Context().Done()
		close(s.cancelled)
		return stream.Context().Err()
	}
	for {
		var m []byte
		if err := stream.MsgRecv(&m, raw{}); err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
		if err := stream.MsgSend(&m, raw{}); err != nil {
			return err
		}
		if method == "/once" {
			return nil
		}
	}
}

// TestDRPC: DRPC's calls, streams, errors and cancellation work.
func TestDRPC(t *testing.T) {
	l, dial := listen(t)
	service := drpcService{waits: make(chan bool), cancelled: make(chan bool)}
	go drpcserver.New(service).Serve(t.Context(), l)
	connect := func() *drpcconn.Conn {
		c, err := dial(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		conn := drpcconn.New(c)
		t.Cleanup(func() { conn.Close() })
		return conn
	}
	conn := connect()
	for _, n := range []int{1, 64, 100000, 4 << 20} {
		in := bytes.Repeat([]byte{'d'}, n)
		var out []byte
		if err := conn.Invoke(t.Context(), "/once", raw{}, &in, &out); err != nil || !bytes.Equal(in, out) {
			t.Errorf("%d bytes: %d have come, %v", n, len(out), err)
		}
	}
	stream, err := conn.NewStream(t.Context(), "/stream", raw{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 200 {
		in := fmt.Append(nil, "message ", i)
		out := []byte(nil)
		if err := stream.MsgSend(&in, raw{}); err != nil {
			t.Fatal(err)
		}
		if err := stream.MsgRecv(&out, raw{}); err != nil || !bytes.Equal(in, out) {
			t.Fatalf("%q comes back as %q, %v", in, out, err)
		}
	}
	stream.Close()
	in := []byte{1}
	out := []byte(nil)
	if err := conn.Invoke(t.Context(), "/fail", raw{}, &in, &out); err == nil || err.Error() != "as asked" {
		t.Errorf("an error comes as %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	waits := connect()
	stream, err = waits.NewStream(ctx, "/wait", raw{})
	if err != nil {
		t.Fatal(err)
	}
	if err := stream.MsgSend(&in, raw{}); err != nil {
		t.Fatal(err)
	}
	<-service.waits
	cancel()
	<-service.cancelled // the server has heard of it
}
