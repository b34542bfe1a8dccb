package weftnats

import (
	"context"
	"errors"
	"io"
	"net"
	"sync"

	"github.com/nats-io/nats.go"

	"weft/stream"
)

// Serve joins each connection of a listener to the server, by a connection within the process, until the listener is
// closed. The connections that are joined then stay.
func Serve(l net.Listener, server nats.InProcessConnProvider) error {
	for {
		c, err := l.Accept()
		if errors.Is(err, net.ErrClosed) {
			return nil
		}
		if err != nil {
			return err
		}
		inside, err := server.InProcessConn()
		if err != nil {
			c.Close()
			return err
		}
		go join(c, inside)
	}
}

// join copies in both directions until one of them ends.
func join(a, b net.Conn) {
	end := sync.OnceFunc(func() {
		a.Close()
		b.Close()
	})
	defer end()
	go func() {
		defer end()
		_, _ = io.Copy(a, b)
	}()
	_, _ = io.Copy(b, a)
}

// A Dialer is the address of package stream at which a server is served, as a nats.CustomDialer. The client's URL names
// a server for its messages only.
type Dialer string

// Dial connects to the server.
func (d Dialer) Dial(_, _ string) (net.Conn, error) {
	return stream.Dial(context.Background(), string(d))
}

// SkipTLSHandshake says that the connection needs no TLS of NATS.
func (d Dialer) SkipTLSHandshake() bool { return true }
