package engine

import (
	"bytes"
	"encoding/binary"
	"testing"

	"weft/internal/engine/link"
	"weft/internal/engine/msg"
	"weft/internal/engine/rma"
	"weft/internal/mem"
	"weft/internal/monotime"
)

// cluster is some engines whose packets arrive at once and in order.
type cluster struct {
	t       testing.TB
	engines []*Engine
	now     monotime.Time
}

func newCluster(t testing.TB, n, mtu int) *cluster {
	c := &cluster{t: t, now: 1}
	for i := range n {
		key := uint64(i) << 32
		c.engines = append(c.engines, New(Config{
			Rank: i, Size: n, Job: 1, Secret: make([]byte, 32), Incarnation: 1,
			Rand: func() uint64 { key++; return key },
		}))
	}
	for i, e := range c.engines {
		for j := range c.engines {
			e.Connect(c.now, j, Path{MTU: mtu})
		}
		_ = i
	}
	return c
}

// settle moves packets until there are none.
func (c *cluster) settle() {
	for again := true; again; {
		again = false
		for from, e := range c.engines {
			var out [8]link.Packet
			for {
				to, n, _ := e.Output(c.now, out[:])
				if n == 0 {
					break
				}
				again = true
				var pkts [][]byte
				for _, p := range out[:n] {
					pkts = append(pkts, append(bytes.Clone(p.Header), p.Payload...))
				}
				e.Taken(c.now, to, n, n, out[:])
				for _, p := range pkts {
					c.engines[to].Recv(c.now, from, p)
				}
			}
		}
	}
}

func (c *cluster) open(rank int, cfg msg.Config) *msg.Port {
	p, err := c.engines[rank].Msg.Open(1, cfg)
	if err != nil {
		c.t.Fatal(err)
	}
	return p
}

// TestEntrance: packets that are empty, or of ranks that the job has not, are dropped, and nothing is kept of their
// senders.
func TestEntrance(t *testing.T) {
	e := newCluster(t, 2, 1500).engines[0]
	e.watched++ // as if the silence of a peer were noticed
	for _, from := range []int{1, 2, 1 << 31} {
		before := e.dropped.Malformed
		packet := make([]byte, 0, 8)
		if from > 1 {
			packet = packet[:8]
		}
		e.Recv(1, from, packet)
		if e.dropped.Malformed != before+1 || from > 1 && e.known(from) != nil {
			t.Errorf("a packet of %d bytes of rank %d: %d dropped", len(packet), from, e.dropped.Malformed-before)
		}
	}
}

// Messages to a receiver that does not receive stay at their sender, and what
// it holds is bounded by its buffer.
func TestCreditBoundsReceiver(t *testing.T) {
	const limit = 64 << 10
	c := newCluster(t, 3, 4096)
	to := c.open(0, msg.Config{RecvBuffer: limit})
	var ops []*msg.Op
	for from := 1; from < 3; from++ {
		p := c.open(from, msg.Config{})
		for range 200 {
			op := &msg.Op{Kind: msg.Send, Peer: 0, Buf: make([]byte, 3000)}
			p.Start(op)
			ops = append(ops, op)
			c.settle()
		}
	}
	if held := c.engines[0].Msg.MemoryBytes(); held > limit {
		t.Errorf("the receiver holds %d bytes, its buffer is %d", held, limit)
	}
	if c.engines[0].Stats().Msg.Refused == 0 {
		t.Error("nothing was refused")
	}
	got := 0
	for {
		b, _ := to.Next(msg.Any)
		if b == nil {
			break
		}
		got++
		to.Release(b)
		c.settle()
	}
	if got != len(ops) {
		t.Errorf("%d of %d messages arrived", got, len(ops))
	}
	for _, op := range ops {
		if op.State != msg.Done || op.Err != nil {
			t.Fatalf("a send ended as %d: %v", op.State, op.Err)
		}
	}
}

// One receiver that does not receive does not hold up messages to another.
func TestSlowReceiverHoldsUpNobodyElse(t *testing.T) {
	c := newCluster(t, 3, 4096)
	c.open(0, msg.Config{RecvBuffer: 64 << 10})
	fast := c.open(1, msg.Config{})
	from := c.open(2, msg.Config{SendBuffer: 128 << 10})
	for range 100 {
		from.Start(&msg.Op{Kind: msg.Send, Peer: 0, Buf: make([]byte, 4096)})
		c.settle()
	}
	for i := range 100 {
		if !from.Give(1, []byte{byte(i)}) {
			t.Fatalf("message %d to the fast receiver waits", i)
		}
		c.settle()
		b, _ := fast.Next(2)
		if b == nil || b.Data()[0] != byte(i) {
			t.Fatalf("message %d did not arrive", i)
		}
		fast.Release(b)
	}
}

// A message never overtakes operations that were begun before it and had to wait,
// because so many were under way already.
func TestMessageFollowsWhatWaits(t *testing.T) {
	c := newCluster(t, 2, 4096)
	from := c.open(0, msg.Config{})
	to := c.open(1, msg.Config{})
	region := mem.Aligned(8)
	r, err := c.engines[1].RMA.Expose("r", region, 0, false, 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	var waits []*rma.Op
	for i := range 300 {
		op := &rma.Op{Kind: rma.Push, Peer: 1, Region: r.ID, Key: r.Key,
			Buf: binary.LittleEndian.AppendUint64(nil, uint64(i+1))}
		c.engines[0].RMA.Start(op)
		waits = append(waits, op)
	}
	if !from.Give(1, []byte("after 300")) {
		t.Fatal("no room for a message")
	}
	if ok, _ := c.engines[0].RMA.Cancel(waits[200]); !ok {
		t.Fatal("an operation that waits cannot be cancelled")
	}
	for steps := 0; ; steps++ {
		if b, _ := to.Next(0); b != nil {
			if got := mem.Load64(region, 0); got != 300 {
				t.Errorf("the message has arrived, and write %d of 300 is in place", got)
			}
			return
		}
		var out [1]link.Packet
		for from, e := range c.engines { // one packet of each
			if peer, n, _ := e.Output(c.now, out[:]); n > 0 {
				b := append(bytes.Clone(out[0].Header), out[0].Payload...)
				e.Taken(c.now, peer, n, n, out[:])
				c.engines[peer].Recv(c.now, from, b)
			}
		}
		if steps > 10000 {
			t.Fatal("the message does not arrive")
		}
	}
}
