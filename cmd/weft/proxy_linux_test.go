package main

import (
	"bytes"
	"context"
	"io"
	"net"
	"path/filepath"
	"testing"

	"weft/internal/waittest"
	"weft/stream"
)

// Whatever is joined to whatever, bytes and half closes go through, and what cannot be
// reached, or has gone, ends the connection.
func TestProxy(t *testing.T) {
	data := bytes.Repeat([]byte("through the proxy "), 50000)
	for _, front := range []string{"weft", "weft between hosts", "unix", "tcp"} {
		for _, behind := range []string{"weft", "weft between hosts", "unix", "tcp"} {
			t.Run(front+" to "+behind, func(t *testing.T) {
				server, service := listenAs(t, behind)
				l, entrance := listenAs(t, front)
				ctx, cancel := context.WithCancel(t.Context())
				ended := make(chan error)
				go func() { ended <- proxy(ctx, l, service.dial) }()
				go func() { // answers when all has come
					for {
						c, err := server.Accept()
						if err != nil {
							return
						}
						b, _ := io.ReadAll(c)
						c.Write(b)
						c.Close()
					}
				}()
				c := reach(t, entrance)
				go func() {
					c.Write(data)
					c.(interface{ CloseWrite() error }).CloseWrite()
				}()
				if b, err := io.ReadAll(c); err != nil || !bytes.Equal(b, data) {
					t.Errorf("%d of %d bytes came back: %v", len(b), len(data), err)
				}
				waits := reach(t, entrance)
				waits.Write([]byte{1})
				server.Close()
				gone := reach(t, entrance)
				if n, _ := gone.Read(make([]byte, 1)); n != 0 {
					t.Error("nobody is there, and something answers")
				}
				cancel()
				if err := <-ended; err != nil {
					t.Error(err)
				}
				if n, _ := waits.Read(make([]byte, 1)); n != 0 {
					t.Error("the proxy has ended, and something answers")
				}
			})
		}
	}
	for _, bad := range []string{"", "weft", "weft:", "udp:localhost:1", "localhost:80"} {
		if _, err := parseEndpoint(bad); err == nil {
			t.Errorf("%q is an address", bad)
		}
	}
}

func listenAs(t *testing.T, network string) (net.Listener, endpoint) {
	t.Helper()
	e := endpoint{network: network, address: filepath.Join(t.TempDir(), "s")}
	switch network {
	case "tcp":
		e.address = "127.0.0.1:0"
	case "weft between hosts":
		e.network = "weft"
		e.address = "127.0.0.1:0"
		e.cfg.Key = bytes.Repeat([]byte("key"), stream.MinKey)
	}
	l, err := e.listen(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	e.address = l.Addr().String()
	return l, e
}

func reach(t *testing.T, e endpoint) net.Conn {
	t.Helper()
	c, err := e.dial(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	c.SetDeadline(waittest.End())
	t.Cleanup(func() { c.Close() })
	return c
}
