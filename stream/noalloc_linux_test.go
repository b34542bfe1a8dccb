//go:build !race

package stream

import (
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
