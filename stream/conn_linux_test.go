package stream

import (
	"net"
	"path/filepath"
	"testing"
)

// pair returns both ends of a connection: the dialler's, and the listener's.
func pair(t testing.TB, cfg *Config) (dialled, accepted *Conn) {
	t.Helper()
	l, err := cfg.listenPath(t.Context(), filepath.Join(t.TempDir(), "s"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return connect(t, l, func() (*Conn, error) { return cfg.dialPath(t.Context(), l.Addr().String()) })
}

// configs are the ways to wait.
var configs = map[string]*Config{
	"default": {},
	"asleep":  {Spin: -1, Nap: -1},
	"napping": {Spin: -1},
	"small":   {Buffer: MinBuffer},
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
