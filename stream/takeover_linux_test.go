package stream

import (
	"net"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
)

// TestTakeover: while clients connect, ask and close, one listener after the other hands its socket on to a successor:
// no request fails, and each of them has served some.
func TestTakeover(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	l, err := new(Config).listenPath(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	var end atomic.Bool
	var clients sync.WaitGroup
	for range 4 {
		clients.Go(func() {
			for !end.Load() {
				c, err := Dial(t.Context(), path)
				if err != nil {
					t.Error(err)
					return
				}
				echo(t, c)
				c.Close()
			}
		})
	}
	for range 20 {
		go serve(l)
		for l.Stats().Accepted < 20 {
			c := dialConn(t, new(Config), path)
			echo(t, c)
			c.Close()
		}
		f, err := l.File()
		if err != nil {
			t.Fatal(err)
		}
		next, err := new(Config).FileListener(f, path)
		f.Close()
		if err != nil {
			t.Fatal(err)
		}
		l.SetUnlinkOnClose(false)
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		l = next
	}
	go serve(l)
	end.Store(true)
	clients.Wait()
	l.SetUnlinkOnClose(true)
	l.Close()
	if _, err := os.Lstat(path); err == nil {
		t.Error("the socket's file is left")
	}
}

// TestFileListenerRefuses: a socket that is no Unix socket is none for streams.
func TestFileListenerRefuses(t *testing.T) {
	tcp, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer tcp.Close()
	f, err := tcp.(*net.TCPListener).File()
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if l, err := new(Config).FileListener(f, "x"); err == nil {
		t.Errorf("%v", l.Addr())
	}
}
