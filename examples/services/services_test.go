// Package services shows protocols that know nothing of weft running over its connections: gRPC, DRPC, net/http
// with keep-alive, HTTP/2 and a reverse proxy, net/rpc, and Redis' protocol. It is a module of its own, so that
// weft does not need their libraries.
package services

import (
	"context"
	"net"
	"path/filepath"
	"testing"

	"weft/stream"
)

// listen returns a listener, and a function that connects to it.
func listen(t testing.TB) (net.Listener, func(ctx context.Context) (net.Conn, error)) {
	t.Helper()
	l, err := stream.Listen(t.Context(), filepath.Join(t.TempDir(), "s"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l, func(ctx context.Context) (net.Conn, error) { return stream.Dial(ctx, l.Addr().String()) }
}
