package stream

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"path/filepath"
	"testing"
)

// A carrier is a connection that has metadata.
type carrier interface {
	net.Conn
	Metadata() []byte
}

// TestMetadata: what the dialler's context has arrives with the connection, of each kind, from nothing to the most
// bytes; it is no part of the stream, and too much is refused at the dialler.
func TestMetadata(t *testing.T) {
	keys := secrets(t)["key"]
	path := filepath.Join(t.TempDir(), "s")
	nets := job(t, 2, new(Config))
	listen := func(l net.Listener, err error) net.Listener {
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { l.Close() })
		return l
	}
	onHost := listen(Listen(t.Context(), path))
	secret := listen(keys[0].Listen(t.Context(), "127.0.0.1:0"))
	rank := listen(asListener(nets[1].Listen()))
	for name, side := range map[string]struct {
		l    net.Listener
		dial func(context.Context) (net.Conn, error)
	}{
		"shared memory": {onHost, func(ctx context.Context) (net.Conn, error) { return Dial(ctx, path) }},
		"TLS": {secret, func(ctx context.Context) (net.Conn, error) {
			return keys[1].Dial(ctx, secret.Addr().String())
		}},
		"a job": {rank, func(ctx context.Context) (net.Conn, error) { return nets[0].DialContext(ctx, "", "rank1") }},
	} {
		t.Run(name, func(t *testing.T) {
			for _, n := range []int{0, 1, 55, MaxMetadata} {
				want := noise(n)
				ctx := WithMetadata(within(t), want)
				d, c := connect(t, side.l, func() (net.Conn, error) { return side.dial(ctx) })
				if got := c.(carrier).Metadata(); !bytes.Equal(got, want) {
					t.Errorf("of %d bytes %d arrive, or others", n, len(got))
				}
				if own := d.(carrier).Metadata(); own != nil {
					t.Errorf("the dialler's end has %d bytes", len(own))
				}
				go func() {
					defer c.Close()
					io.Copy(c, c)
				}()
				echo(t, d)
			}
			if _, err := side.dial(WithMetadata(within(t), make([]byte, MaxMetadata+1))); !errors.Is(err, ErrMetadata) {
				t.Errorf("too much: %v", err)
			}
		})
	}
}

// TestHostileMetadata: a peer that announces metadata and sends too much of it, or none, ends its own connection; the
// listener goes on.
func TestHostileMetadata(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	l, err := Listen(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for _, say := range [][]byte{appendMetadata(nil, make([]byte, MaxMetadata+1)), {0xff, 0xff}, {1}, nil} {
		sock, err := net.DialUnix("unix", unixAddr(newCaller(true)), unixAddr(path))
		if err != nil {
			t.Fatal(err)
		}
		c, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			sock.Write(say)
			sock.CloseWrite()
		}()
		if b := c.(carrier).Metadata(); b != nil {
			t.Errorf("%d bytes of metadata", len(b))
		}
		if n, err := c.Read(make([]byte, 1)); n > 0 || err == nil {
			t.Errorf("the stream goes on after %.10x", say)
		}
		c.Close()
		sock.Close()
	}
	d, c := connect(t, l, func() (net.Conn, error) { return Dial(WithMetadata(within(t), []byte("x")), path) })
	if got := c.(carrier).Metadata(); string(got) != "x" {
		t.Errorf("%q arrives", got)
	}
	go func() {
		defer c.Close()
		io.Copy(c, c)
	}()
	echo(t, d)
}

// FuzzMetadata: whatever a peer sends, what is read has at most MaxMetadata bytes, and is what was sent.
func FuzzMetadata(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte{3, 0, 'a', 'b'})
	f.Add([]byte{1, 0, 'a', 'b'})
	f.Add([]byte{0xff, 0xff})
	f.Add(appendMetadata(nil, make([]byte, MaxMetadata)))
	f.Fuzz(func(t *testing.T, b []byte) {
		in := bytes.NewReader(b)
		got, err := readMetadata(in)
		if len(got) > MaxMetadata {
			t.Fatalf("%d bytes", len(got))
		}
		if err == nil && !bytes.Equal(appendMetadata(nil, got), b[:len(b)-in.Len()]) {
			t.Errorf("%x is read as %x", b, got)
		}
	})
}
