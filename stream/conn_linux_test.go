package stream

import (
	"bytes"
	"errors"
	"net"
	"path/filepath"
	"runtime"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// pair returns both ends of a connection, the dialler's and the listener's, which has moved into memory unless the
// Config is that of "early".
func pair(t testing.TB, cfg *Config) (dialled, accepted *Conn) {
	t.Helper()
	l, err := cfg.listenPath(t.Context(), filepath.Join(t.TempDir(), "s"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	dialled, accepted = connect(t, l, func() (*Conn, error) { return dialConn(t, cfg, l.Addr().String()), nil })
	accepted.early.within = time.Hour // however busy this machine is
	if cfg != configs["early"] {
		move(t, dialled, accepted)
	}
	return dialled, accepted
}

// move moves a connection on which nobody waits, and whose socket is empty, into memory.
func move(t testing.TB, dialled, accepted *Conn) {
	t.Helper()
	accepted.wr.Lock()
	accepted.offer()
	accepted.wr.Unlock()
	dialled.rd.Lock()
	dialled.look()
	dialled.rd.Unlock()
	for _, c := range []*Conn{accepted, dialled} {
		c.rd.Lock()
		if n, err := c.receive(make([]byte, 1)); err != errMoved {
			t.Fatalf("%d bytes, %v", n, err)
		}
		c.rd.Unlock()
	}
	if dialled.out == nil || accepted.out == nil {
		t.Fatal("the writers have not moved")
	}
}

// dialConn dials a listener of this host.
func dialConn(t testing.TB, cfg *Config, address string) *Conn {
	t.Helper()
	c, err := cfg.Dial(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	return c.(*Conn)
}

// configs are the ways to wait.
var configs = map[string]*Config{
	"default": {},
	"asleep":  {Spin: -1, Nap: -1},
	"napping": {Spin: -1},
	"small":   {Buffer: MinBuffer},
	"early":   {Spin: -1, Buffer: MinBuffer},
}

func TestConn(t *testing.T) {
	for name, cfg := range configs {
		t.Run(name, func(t *testing.T) {
			testConn(t, func() (dialled, accepted *Conn) { return pair(t, cfg) })
		})
	}
}

func BenchmarkPingPong(b *testing.B) {
	for name, cfg := range configs {
		b.Run(name, func(b *testing.B) {
			c1, c2 := pair(b, cfg)
			pingPong(b, c1, c2)
		})
	}
	b.Run("socket", func(b *testing.B) { // it never moves
		c1, c2 := pair(b, configs["early"])
		c2.early.within = 0
		pingPong(b, c1, c2)
	})
	b.Run("unix", func(b *testing.B) {
		l, err := net.Listen("unix", filepath.Join(b.TempDir(), "s"))
		if err != nil {
			b.Fatal(err)
		}
		defer l.Close()
		c1, err := net.Dial("unix", l.Addr().String())
		if err != nil {
			b.Fatal(err)
		}
		c2, err := l.Accept()
		if err != nil {
			b.Fatal(err)
		}
		pingPong(b, c1, c2)
		c1.Close()
		c2.Close()
	})
}

func pingPong(b *testing.B, c1, c2 net.Conn) {
	done := make(chan bool)
	go func() {
		defer close(done)
		var m [64]byte
		for range b.N {
			c2.Read(m[:])
			c2.Write(m[:])
		}
	}()
	var m [64]byte
	b.ReportAllocs()
	b.ResetTimer()
	for range b.N {
		c1.Write(m[:])
		c1.Read(m[:])
	}
	<-done
}

// TestGivesWay: a goroutine that waits lets others of its process run before it sleeps: once where few connections are
// busy, and some times where many are. What comes in the meantime need not wake it.
func TestGivesWay(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	const rounds = 100
	for _, busy := range []int32{0, few} {
		c1, c2 := pair(t, &Config{Spin: -1})
		var woken atomic.Int32
		poke := c2.poke
		c2.poke = func(fd uintptr) bool {
			woken.Add(1)
			return poke(fd)
		}
		yielding.Add(busy)
		for range rounds {
			go func() {
				for range turns / 2 {
					runtime.Gosched()
				}
				_, _ = c2.Write([]byte{1})
			}()
			if _, err := c1.Read(make([]byte, 1)); err != nil {
				t.Fatal(err)
			}
		}
		yielding.Add(-busy)
		if n := woken.Load(); n > rounds/2 != (busy == 0) {
			t.Errorf("of %d reads %d had to be woken, beside %d goroutines that let others run", rounds, n, busy)
		}
	}
}

// TestShutTakesNothing: ReadFrom takes nothing from its Reader when the connection no longer writes.
func TestShutTakesNothing(t *testing.T) {
	for name, cfg := range map[string]*Config{"early": configs["early"], "moved": configs["default"]} {
		for how, want := range map[string]error{"CloseWrite": syscall.EPIPE, "Close": net.ErrClosed} {
			c, other := pair(t, cfg)
			end := c.CloseWrite
			if how == "Close" {
				end = c.Close
			}
			if err := end(); err != nil {
				t.Fatal(err)
			}
			from := bytes.NewReader([]byte("text"))
			if n, err := c.ReadFrom(from); n != 0 || !errors.Is(err, want) || from.Len() != 4 {
				t.Errorf("%s, %s: %d bytes, %v; %d are left", name, how, n, err, from.Len())
			}
			other.Close()
			c.Close()
		}
	}
}
