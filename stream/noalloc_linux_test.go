//go:build !race

package stream

import (
	"io"
	"runtime"
	"testing"
)

// Read and Write do not allocate, however they wait; that of "early" stays on its socket.
func TestNoAllocation(t *testing.T) {
	for name, cfg := range configs {
		t.Run(name, func(t *testing.T) {
			c1, c2 := pair(t, cfg)
			if name == "early" {
				c2.early.within = 0
			}
			go func() {
				b := make([]byte, 100000)
				for {
					n, err := c2.Read(b)
					if err != nil {
						return
					}
					c2.Write(b[:n])
				}
			}()
			for _, size := range []int{1, 64, 10000} {
				b := make([]byte, size)
				if n := testing.AllocsPerRun(200, func() {
					c1.Write(b)
					for left := size; left > 0; {
						n, err := c1.Read(b[:left])
						if err != nil {
							t.Fatal(err)
						}
						left -= n
					}
				}); n != 0 {
					t.Errorf("%d bytes: %v allocations", size, n)
				}
			}
		})
	}
}

// Nor do those of connections inside a job, once they are under way. (Between hosts crypto/tls allocates
// a few bytes for each record that it reads.)
func TestNoAllocationAmongRanks(t *testing.T) {
	nets := job(t, 2, new(Config))
	c1, c2 := join(t, nets[0], nets[1])
	go func() {
		b := make([]byte, 100000)
		for {
			n, err := c2.Read(b)
			if err != nil {
				return
			}
			c2.Write(b[:n])
		}
	}()
	for _, size := range []int{1, 64, 10000, 200000} {
		b := make([]byte, size)
		exchange := func() {
			c1.Write(b)
			for left := size; left > 0; {
				n, err := c1.Read(b[:left])
				if err != nil {
					t.Fatal(err)
				}
				left -= n
			}
		}
		for range 300 { // until the transport has the memory that it needs
			exchange()
		}
		if n := testing.AllocsPerRun(200, exchange); n != 0 {
			t.Errorf("%d bytes: %v allocations", size, n)
		}
	}
}

// A connection that carries one small message, and is copied as io.CopyN copies, allocates little: no buffer, and no
// text when it is counted at its end.
func TestAConnectionAllocatesLittle(t *testing.T) {
	l := listenAt(t, new(Config))
	once := func() {
		c := dialConn(t, new(Config), l.Addr().String())
		defer c.Close()
		a, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		defer a.Close()
		b := make([]byte, 64)
		c.Write(b)
		if _, err := io.CopyN(a, a, 64); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(c, b); err != nil {
			t.Fatal(err)
		}
	}
	once()
	var before, after runtime.MemStats
	const times = 100
	runtime.ReadMemStats(&before)
	for range times {
		once()
	}
	runtime.ReadMemStats(&after)
	if each := (after.TotalAlloc - before.TotalAlloc) / times; each > 8<<10 {
		t.Errorf("%d bytes for a connection", each)
	}
}
