package webtest

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"weft/stream"
)

// TestStreams: the page of streams shows a server, its connections, and that bytes move.
func TestStreams(t *testing.T) {
	weft := build(t, weftModule, "./cmd/weft")
	path := filepath.Join(t.TempDir(), "s")
	l, err := stream.Listen(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	d, err := stream.Dial(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	c, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	pass := func() {
		d.Write(make([]byte, 3<<10))
		if _, err := c.Read(make([]byte, 3<<10)); err != nil {
			t.Fatal(err)
		}
	}
	pass()
	b := open(t, start(t, weft, "top", "-http", "127.0.0.1:0", fmt.Sprint(os.Getpid())))
	b.shows("h2", path)
	b.shows("#servers", "1 open of 1 connections; read 3 KiB")
	b.shows("td", fmt.Sprint(os.Getpid()))
	pass()
	b.shows("#servers", "read 6 KiB")
	if err := b.holds(`[...past.values()][0].some(v => v > 0)`); err != nil {
		t.Errorf("the page does not show that bytes have moved: %v", err)
	}
	b.keep("streams")
}
