package stream

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"sync"
	"syscall"
	"testing"
	"time"

	"weft/internal/waittest"
)

// Each way to write, with each way to read, carries all bytes in order.
func TestWaysToCopy(t *testing.T) {
	data := noise(3<<20 + 12345)
	writers := map[string]func(*Conn) error{
		"Write": func(c *Conn) error {
			_, err := c.Write(data)
			return err
		},
		"ReadFrom": func(c *Conn) error {
			n, err := c.ReadFrom(struct{ io.Reader }{bytes.NewReader(data)})
			if err == nil && n != int64(len(data)) {
				err = io.ErrShortWrite
			}
			return err
		},
		"net.Buffers": func(c *Conn) error {
			b := net.Buffers{data[:1], data[1:100000], data[100000:]}
			_, err := b.WriteTo(c)
			return err
		},
	}
	readers := map[string]func(c *Conn, w io.Writer) error{
		"Read": func(c *Conn, w io.Writer) error {
			_, err := io.CopyBuffer(w, struct{ io.Reader }{c}, make([]byte, 10000))
			return err
		},
		"WriteTo": func(c *Conn, w io.Writer) error {
			_, err := c.WriteTo(w)
			return err
		},
	}
	for how, write := range writers {
		for way, read := range readers {
			t.Run(how+" "+way, func(t *testing.T) {
				c1, c2 := pair(t, new(Config))
				wrote := make(chan error)
				go func() {
					err := write(c1)
					c1.CloseWrite()
					wrote <- err
				}()
				h := sha256.New()
				if err := read(c2, h); err != nil {
					t.Error(err)
				}
				if err := <-wrote; err != nil {
					t.Error(err)
				}
				if want := sha256.Sum256(data); !bytes.Equal(h.Sum(nil), want[:]) {
					t.Error("other bytes have come")
				}
			})
		}
	}
}

// Each direction ends for itself.
func TestHalfClose(t *testing.T) {
	for name, cfg := range configs {
		t.Run(name, func(t *testing.T) {
			c1, c2 := pair(t, cfg)
			waits := make(chan error)
			go func() {
				_, err := c2.Read(make([]byte, 1)) // waits already
				waits <- err
			}()
			if err := c1.CloseWrite(); err != nil {
				t.Fatal(err)
			}
			if err := <-waits; err != io.EOF {
				t.Errorf("Read after the peer's CloseWrite: %v", err)
			}
			if _, err := c2.Read(make([]byte, 1)); err != io.EOF {
				t.Errorf("a second Read: %v", err)
			}
			if _, err := c1.Write([]byte{1}); !errors.Is(err, syscall.EPIPE) {
				t.Errorf("Write after CloseWrite: %v", err)
			}
			c2.Write([]byte("still open"))
			b := make([]byte, 10)
			if _, err := io.ReadFull(c1, b); err != nil || string(b) != "still open" {
				t.Errorf("%q, %v", b, err)
			}
			go func() {
				_, err := c2.Write(make([]byte, 1<<20)) // has no room
				waits <- err
			}()
			if err := c1.CloseRead(); err != nil {
				t.Fatal(err)
			}
			if err := <-waits; !errors.Is(err, syscall.EPIPE) {
				t.Errorf("Write after the peer's CloseRead: %v", err)
			}
			if _, err := c1.Read(b); err != io.EOF {
				t.Errorf("Read after CloseRead: %v", err)
			}
		})
	}
}

// Close and CloseRead end the calls that wait, at both ends; what had been written can be read.
func TestCloseWakes(t *testing.T) {
	for name, cfg := range configs {
		t.Run(name, func(t *testing.T) {
			c1, c2 := pair(t, cfg)
			c1.Write([]byte("last words"))
			results := make(chan error, 3)
			go func() {
				_, err := c1.Read(make([]byte, 1))
				results <- err
			}()
			go func() {
				_, err := c1.Write(make([]byte, 1<<20))
				results <- err
			}()
			c1.Close()
			for range 2 {
				if err := <-results; !errors.Is(err, net.ErrClosed) {
					t.Error(err)
				}
			}
			b, err := io.ReadAll(c2)
			if err != nil || !bytes.HasPrefix(b, []byte("last words")) {
				t.Errorf("%.20q, %v", b, err)
			}
			if _, err := c2.Write([]byte{1}); !errors.Is(err, syscall.EPIPE) {
				t.Errorf("Write after the peer's Close: %v", err)
			}
			for _, err := range []error{c1.Close(), c1.SetDeadline(time.Time{}), c1.CloseRead(), c1.CloseWrite()} {
				if !errors.Is(err, net.ErrClosed) {
					t.Errorf("after Close: %v", err)
				}
			}
		})
	}
}

// A Close does not wait for a copy that waits for somebody else, and the peer hears of it.
func TestCloseDuringCopies(t *testing.T) {
	c1, c2 := pair(t, new(Config))
	r, w := net.Pipe() // nobody reads or writes at the other ends
	ended := make(chan error, 2)
	c2.Write([]byte{1})
	go func() {
		_, err := c1.ReadFrom(r)
		ended <- err
	}()
	go func() {
		_, err := c1.WriteTo(w)
		ended <- err
	}()
	c1.Close()
	if _, err := io.ReadAll(c2); err != nil {
		t.Error(err)
	}
	r.Close()
	w.Close()
	for range 2 {
		if err := <-ended; err == nil {
			t.Error("no error")
		}
	}
}

// Deadlines can be set, moved and taken away while calls wait.
func TestDeadlinesMove(t *testing.T) {
	for name, cfg := range configs {
		t.Run(name, func(t *testing.T) {
			c1, c2 := pair(t, cfg)
			read := make(chan error)
			go func() {
				_, err := c1.Read(make([]byte, 1))
				read <- err
			}()
			c1.SetReadDeadline(waittest.End())
			c1.SetReadDeadline(waittest.Soon())
			err := <-read
			var timeout net.Error
			if !errors.Is(err, os.ErrDeadlineExceeded) || !errors.As(err, &timeout) || !timeout.Timeout() {
				t.Errorf("%v", err)
			}
			c1.SetReadDeadline(time.Time{})
			c2.Write([]byte{1})
			if _, err := c1.Read(make([]byte, 1)); err != nil {
				t.Errorf("after the deadline was taken away: %v", err)
			}
			// Both directions wait at the same time: each has its own deadline.
			go func() {
				_, err := c1.Read(make([]byte, 1))
				read <- err
			}()
			c1.SetWriteDeadline(waittest.Soon())
			if _, err := c1.Write(make([]byte, 1<<20)); !errors.Is(err, os.ErrDeadlineExceeded) {
				t.Error(err)
			}
			c2.Write([]byte{1})
			if err := <-read; err != nil {
				t.Error(err)
			}
		})
	}
}

// Goroutines that call everything at once, while the connection closes at any moment.
func TestEverythingAtOnce(t *testing.T) {
	rounds := 21
	if testing.Short() {
		rounds = 10
	}
	for round := range rounds {
		cfg := configs[[]string{"default", "asleep", "small", "napping"}[round%4]]
		c1, c2 := pair(t, cfg)
		var wg sync.WaitGroup
		for _, c := range []*Conn{c1, c2} {
			for _, call := range []func(){
				func() { c.Read(make([]byte, 1000)) },
				func() { c.Read(make([]byte, 1000)) },
				func() { c.Write(make([]byte, 50000)) },
				func() { c.Write(make([]byte, 1)) },
				func() { c.SetDeadline(waittest.End()) },
				func() { c.SetReadDeadline(time.Unix(1, 0)) },
				func() { c.SetDeadline(time.Time{}) },
				func() { c.LocalAddr(); c.RemoteAddr() },
			} {
				wg.Go(func() {
					for !c.closed.Load() {
						call()
					}
				})
			}
			wg.Go(func() { c.WriteTo(io.Discard) })
		}
		wg.Go(func() {
			for range rand.IntN(200) {
				c1.SetWriteDeadline(time.Time{})
			}
			if round%3 == 0 {
				c1.CloseWrite()
				c2.CloseRead()
			}
			c1.Close()
			c2.Close()
		})
		wg.Wait()
	}
}

func TestAddresses(t *testing.T) {
	c1, c2 := pair(t, new(Config))
	if c1.LocalAddr().Network() != "unix" || c1.RemoteAddr().String() != c2.RemoteAddr().String() {
		t.Errorf("%v %v", c1.RemoteAddr(), c2.RemoteAddr()) // both are this process
	}
	if a := c2.RemoteAddr().(Addr); a.Peer.PID != os.Getpid() || a.Peer.UID != os.Geteuid() {
		t.Errorf("%+v", a)
	}
	if c2.LocalAddr().String() != c2.LocalAddr().(Addr).Path {
		t.Errorf("%v", c2.LocalAddr())
	}
	for _, n := range []int{1, MinBuffer - 1, MinBuffer + 1, 2 * MaxBuffer, -1} {
		if _, err := (&Config{Buffer: n}).Listen(t.Context(), t.TempDir()+"/s"); err == nil {
			t.Errorf("a buffer of %d bytes", n)
		}
	}
}
