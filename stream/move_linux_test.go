package stream

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"path/filepath"
	"sync"
	"testing"

	"weft/internal/sys"
)

// writerOnly hides ReadFrom.
type writerOnly struct{ io.Writer }

// TestMove: connections move while both ends write and read as they like, in pieces of any size, with half closes at
// any moment, and with any way to copy: all bytes arrive in order, and each direction ends where its writer has ended
// it.
func TestMove(t *testing.T) {
	moved := 0
	for seed := range uint64(60) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		dialled, accepted := pair(t, configs["early"])
		var wg sync.WaitGroup
		for i, c := range []*Conn{dialled, accepted} {
			other := []*Conn{accepted, dialled}[i]
			data := noise(rnd.IntN(2) * rnd.IntN(1<<18+rnd.IntN(1<<18)))
			pieces := rand.New(rand.NewPCG(seed, uint64(2+i)))
			most := 1 << (4 + rnd.IntN(14))
			whole := rnd.IntN(3) == 0
			lend := rnd.IntN(2) == 0
			wg.Go(func() {
				defer c.CloseWrite()
				if whole {
					c.ReadFrom(bytes.NewReader(data))
					return
				}
				for b := data; len(b) > 0; {
					k := min(1+pieces.IntN(most), len(b))
					n, err := io.Copy(writerOnly{c}, bytes.NewReader(b[:k]))
					if err != nil || n != int64(k) {
						t.Errorf("seed %d: %d of %d bytes, %v", seed, n, k, err)
						return
					}
					b = b[k:]
				}
			})
			wg.Go(func() {
				h := sha256.New()
				var n int64
				var err error
				if lend {
					n, err = other.WriteTo(h)
				} else {
					n, err = io.CopyBuffer(struct{ io.Writer }{h}, struct{ io.Reader }{other}, make([]byte, most))
				}
				if want := sha256.Sum256(data); err != nil || n != int64(len(data)) || !bytes.Equal(h.Sum(nil), want[:]) {
					t.Errorf("seed %d: %d of %d bytes have come, or others: %v", seed, n, len(data), err)
				}
			})
		}
		wg.Wait()
		if dialled.mem != nil {
			moved++
		}
		dialled.Close()
		accepted.Close()
	}
	if moved < 10 {
		t.Errorf("%d of 60 connections have moved", moved)
	}
	if n := mapped.Load(); n != 0 {
		t.Errorf("%d memories are left", n)
	}
}

// TestOneWay: a connection on which one side only writes, and the other side only reads, moves as well.
func TestOneWay(t *testing.T) {
	for _, upload := range []bool{true, false} {
		dialled, accepted := pair(t, configs["early"])
		writer := accepted
		reader := dialled
		if upload {
			writer = dialled
			reader = accepted
		}
		for i := 0; writer.out == nil || reader.in == nil; i++ {
			if _, err := writer.Write([]byte{1}); err != nil {
				t.Fatal(err)
			}
			if _, err := reader.Read(make([]byte, 1)); err != nil {
				t.Fatal(err)
			}
			if i > 10*enough/callWork {
				t.Fatalf("upload %v: it is on the socket after %d calls", upload, i)
			}
		}
	}
}

// TestBothFull: when both sides write more than the socket and the rings hold, and one of them then begins to read,
// neither waits for ever, wherever the move has got to.
func TestBothFull(t *testing.T) {
	for round := range 20 {
		dialled, accepted := pair(t, configs["early"])
		for range round * 2 {
			echoed := make(chan bool)
			go func() {
				defer close(echoed)
				b := make([]byte, 100)
				n, _ := accepted.Read(b)
				accepted.Write(b[:n])
			}()
			dialled.Write(make([]byte, 100))
			io.ReadFull(dialled, make([]byte, 100))
			<-echoed
		}
		const much = 1 << 20
		var wg sync.WaitGroup
		for _, c := range []*Conn{dialled, accepted} {
			wg.Go(func() {
				if _, err := c.Write(make([]byte, much)); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Go(func() {
			io.ReadFull(accepted, make([]byte, much))
			io.ReadFull(dialled, make([]byte, much))
		})
		wg.Wait()
	}
}

// TestFewMappings: connections that carry little have no memory, and no more than the kernel's limit allows have some:
// the others stay on their sockets.
func TestFewMappings(t *testing.T) {
	most := int64(sys.MostMappings() / 2)
	dialled, accepted := pair(t, configs["early"])
	if dialled.mem != nil || accepted.mem != nil || mapped.Load() != 0 {
		t.Errorf("an idle connection has memory; %d in all", mapped.Load())
	}
	mapped.Add(most - 1)
	defer mapped.Add(1 - most)
	go func() {
		io.Copy(struct{ io.Writer }{accepted}, struct{ io.Reader }{accepted})
	}()
	for range 3 * enough / callWork {
		echo(t, dialled) // there is room for the listener's mapping and not for the dialler's
	}
	if dialled.mem != nil || mapped.Load() != most {
		t.Errorf("the dialler has memory beyond the limit; %d in all", mapped.Load())
	}
}

// TestSlowStays: a connection on which calls wait for long stays on its socket, whatever it carries.
func TestSlowStays(t *testing.T) {
	dialled, accepted := pair(t, configs["early"])
	accepted.early.within = 0
	go func() {
		io.Copy(struct{ io.Writer }{accepted}, struct{ io.Reader }{accepted})
	}()
	for range 5 * enough / callWork {
		echo(t, dialled)
	}
	if dialled.mem != nil || mapped.Load() != 0 {
		t.Error("it has moved")
	}
}

// BenchmarkConnect measures to connect, exchange 64 B and close, beside a Unix socket.
func BenchmarkConnect(b *testing.B) {
	path := filepath.Join(b.TempDir(), "s")
	for name, side := range map[string]struct {
		listen func(string) (net.Listener, error)
		dial   func(string) (net.Conn, error)
	}{
		"stream": {
			func(p string) (net.Listener, error) { return Listen(b.Context(), p) },
			func(p string) (net.Conn, error) { return Dial(b.Context(), p) },
		},
		"unix": {
			func(p string) (net.Listener, error) { return net.Listen("unix", p) },
			func(p string) (net.Conn, error) { return net.Dial("unix", p) },
		},
	} {
		b.Run(name, func(b *testing.B) {
			l, err := side.listen(path)
			if err != nil {
				b.Fatal(err)
			}
			defer l.Close()
			go serve(l)
			for b.Loop() {
				c, err := side.dial(path)
				if err != nil {
					b.Fatal(err)
				}
				var m [64]byte
				c.Write(m[:])
				io.ReadFull(c, m[:])
				if err := c.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
					b.Fatal(err)
				}
			}
		})
	}
}
