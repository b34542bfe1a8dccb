package engine

import (
	"runtime"
	"testing"
	"time"

	"weft/internal/engine/link"
	"weft/internal/engine/msg"
)

// heap returns how many bytes of the heap are in use.
func heap() int {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}

// TestSilentPeers: what a process holds for a peer that is silent, and with which it has
// exchanged messages before, is little, whatever guards the packets: the link, the queue,
// a port's account of messages, and the tables in which these are found.
func TestSilentPeers(t *testing.T) {
	const (
		peers = 1000
		most  = 2 << 10
	)
	for _, g := range []link.Guard{link.Checked, link.Tagged, link.Encrypted} {
		c := silentCluster(t, peers+1, g)
		with := heap()
		c.engines[0] = nil
		if each := (with - heap()) / peers; each > most {
			t.Errorf("guard %v: %d bytes for each silent peer, want at most %d", g, each, most)
		} else {
			t.Logf("guard %v: %d bytes for each silent peer", g, each)
		}
		runtime.KeepAlive(c)
	}
}

// silentCluster returns engines of which the first has exchanged messages with all others,
// several with each at a time, a while ago.
func silentCluster(t *testing.T, n int, g link.Guard) *cluster {
	c := &cluster{t: t, now: 1}
	for i := range n {
		c.engines = append(c.engines, New(Config{
			Rank: i, Size: n, Job: 1, Secret: make([]byte, 32), Incarnation: uint64(i) + 1, Link: link.Config{Selective: true},
		}))
	}
	connect := func(i, j int) {
		c.engines[i].Connect(c.now, j, Path{MTU: 1472, Lossy: true, Guard: g, Incarnation: uint64(j) + 1})
	}
	ports := []*msg.Port{c.open(0, msg.Config{})}
	for i := 1; i < n; i++ {
		connect(0, i)
		connect(i, 0)
		ports = append(ports, c.open(i, msg.Config{}))
		for range 10 {
			if !ports[0].Give(i, make([]byte, 300)) || !ports[i].Give(0, make([]byte, 300)) {
				t.Fatal("there is no room for a message")
			}
		}
		c.exchange(0, i)
		for _, p := range []*msg.Port{ports[0], ports[i]} {
			for range 10 {
				b, _ := p.Next(msg.Any)
				if b == nil {
					t.Fatal("a message is missing")
				}
				p.Release(b)
			}
			p.Ask()
		}
		c.exchange(0, i)
	}
	for range 30 {
		c.now = c.now.Add(100 * time.Millisecond)
		for i, e := range c.engines {
			e.Advance(c.now)
			c.exchange(0, i)
		}
	}
	for i, p := range ports {
		if gone := c.engines[i].Departed(); len(gone) > 0 || !p.Settled() {
			t.Fatalf("rank %d: ranks %v are gone; all messages have been acknowledged: %v", i, gone, p.Settled())
		}
	}
	return c
}

// exchange moves packets between two engines until there are none.
func (c *cluster) exchange(a, b int) {
	for again := true; again; {
		again = false
		for _, i := range []int{a, b} {
			var out [8]link.Packet
			for {
				to, n, _ := c.engines[i].Output(c.now, out[:])
				if n == 0 {
					break
				}
				again = true
				for _, p := range out[:n] {
					c.engines[to].Recv(c.now, From(link.Checked), append(append([]byte(nil), p.Header...), p.Payload...))
				}
				c.engines[i].Taken(c.now, to, n, n, out[:])
			}
		}
	}
}
