// Package services shows services that know nothing of weft over its connections: gRPC,
// net/http with keep-alive, HTTP/2 and a reverse proxy, and net/rpc. It is a module of its own, so that
// weft's does not need what these need.
package services

import (
	"context"
	"net"
	"path/filepath"
	"testing"

	"weft/stream"
)

// listen returns a listener, and what dials it.
func listen(t testing.TB) (net.Listener, func(ctx context.Context) (net.Conn, error)) {
	t.Helper()
	l, err := stream.Listen(t.Context(), filepath.Join(t.TempDir(), "s"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l, func(ctx context.Context) (net.Conn, error) { return stream.Dial(ctx, l.Addr().String()) }
}
