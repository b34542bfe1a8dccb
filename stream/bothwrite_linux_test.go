package stream

import (
	"bytes"
	"io"
	"sync"
	"testing"

	"weft/internal/waittest"
)

// TestBufferIsTaken: as many bytes as a ring holds are taken while the peer neither reads nor writes, however far the
// ring is, and however little of it is in use.
func TestBufferIsTaken(t *testing.T) {
	for _, before := range []int{0, 1, 4097, 16 << 10, 100_000} {
		dialled, accepted := pair(t, &Config{Spin: -1, Buffer: 128 << 10})
		n := accepted.buffer
		for _, c := range [][2]*Conn{{dialled, accepted}, {accepted, dialled}} {
			c[0].SetWriteDeadline(waittest.End())
			for read := 0; read < before; read += min(1000, before-read) {
				exchange(t, c[0], c[1], min(1000, before-read))
			}
			data := noise(n)
			for _, part := range [][]byte{data[:5], data[5:]} {
				if _, err := c[0].Write(part); err != nil {
					t.Fatal(err)
				}
			}
			got := make([]byte, n)
			if _, err := io.ReadFull(c[1], got); err != nil || !bytes.Equal(got, data) {
				t.Errorf("%v, or other bytes", err)
			}
		}
	}
}

// TestBothWriteFirst: both ends write as much as a ring holds, and then read, however far the rings are, and however
// little of them is in use; also while the connection moves to memory.
func TestBothWriteFirst(t *testing.T) {
	for _, early := range []bool{false, true} {
		for _, before := range []int{0, 1, 4097, 100_000} {
			cfg := &Config{Spin: -1, Buffer: 128 << 10}
			if early {
				cfg = configs["early"]
			}
			dialled, accepted := pair(t, cfg)
			for _, c := range []*Conn{dialled, accepted} {
				c.SetDeadline(waittest.End())
			}
			both := func(f func(i int, c *Conn)) {
				var wg sync.WaitGroup
				for i, c := range []*Conn{dialled, accepted} {
					wg.Go(func() { f(i, c) })
				}
				wg.Wait()
			}
			n := accepted.buffer
			for round := range 5 {
				data := [2][]byte{noise(min(n, before)), noise(min(n, before))}
				if round%2 == 1 {
					data = [2][]byte{noise(n), noise(n - 1)}
				}
				both(func(i int, c *Conn) {
					if _, err := c.Write(data[i]); err != nil {
						t.Errorf("round %d: %v", round, err)
					}
					got := make([]byte, len(data[1-i]))
					if _, err := io.ReadFull(c, got); err != nil || !bytes.Equal(got, data[1-i]) {
						t.Errorf("round %d: %v, or other bytes", round, err)
					}
				})
			}
		}
	}
}
