package stream

import (
	"errors"
	"io"
	"net"
	"path/filepath"
	"syscall"
	"testing"
)

// TestPlain: where there can be no shared memory, and both sides agree, a connection is the Unix socket itself; and a
// client that does not speak the protocol is served if it speaks first.
func TestPlain(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	start(t, "plain", path).expect(t, "listening")
	ask := func(c net.Conn, err error, first string) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if _, err := c.Write([]byte("hello")); err != nil {
			t.Fatal(err)
		}
		if err := c.(interface{ CloseWrite() error }).CloseWrite(); err != nil {
			t.Fatal(err)
		}
		if b, err := io.ReadAll(c); string(b) != first+"hello" || err != nil {
			t.Errorf("%T: %q, %v", c, b, err)
		}
	}
	c, err := (&Config{Plain: true}).Dial(WithMetadata(t.Context(), []byte("m")), path)
	if _, is := c.(*PlainConn); err == nil && (!is || c.RemoteAddr().Network() != "unix") {
		t.Errorf("%T, %v", c, c.RemoteAddr())
	}
	ask(c, err, "m")
	c, err = net.Dial("unix", path)
	ask(c, err, "")
	if _, err := Dial(t.Context(), path); !errors.Is(err, ErrRefused) || !errors.Is(err, syscall.EFBIG) {
		t.Errorf("a dialler that does not allow it: %v", err)
	}
}

// TestPlainIsNotTaken: where there is shared memory it is used; a listener that does not allow it takes no client that
// does not speak the protocol.
func TestPlainIsNotTaken(t *testing.T) {
	cfg := &Config{Plain: true}
	l := listenAt(t, cfg)
	connect(t, l, func() (*Conn, error) { return dialShared(t, cfg, l.Addr().String()), nil })
	l = listenAt(t, new(Config))
	c, err := net.Dial("unix", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_, _ = c.Write([]byte("GET / HTTP/1.1")) // or it has hung up
	if b, err := io.ReadAll(c); len(b) > 0 {
		t.Errorf("%q, %v", b, err)
	}
}
