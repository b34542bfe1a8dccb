package engine

import (
	"bytes"
	"encoding/binary"
	"slices"
	"strings"
	"testing"

	"weft/internal/engine/coord"
	"weft/internal/engine/link"
	"weft/internal/engine/msg"
	"weft/internal/engine/rma"
	"weft/internal/engine/wire"
	"weft/internal/mailbox"
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

// coordinated is what the fuzzed engine coordinates, and attempts what it has
// begun with each.
var coordinated = []coord.Config{
	{Class: coord.QueueLock, Name: "a"}, {Class: coord.QueueLock, Name: "b", Fair: true},
	{Class: coord.CentralLock, Name: "c"},
	{Class: coord.Semaphore, Name: "d", N: 1}, {Class: coord.Cond, Name: "e"},
	{Class: coord.Barrier, Name: "f", Algorithm: coord.Tree, Arity: 2, Window: 2},
	{Class: coord.Barrier, Name: "g", Aligned: true},
	{Class: coord.Phaser, Name: "h"}, {Class: coord.Regions, Name: "i"}, {Class: coord.RWLock, Name: "j"},
}

var attempts = [][]coord.Kind{
	{coord.Lock}, {coord.Lock}, {coord.TryLock}, {coord.Acquire, coord.Acquire}, {coord.Enter, coord.Signal},
	{coord.Pass, coord.Arrive}, {coord.Pass}, {coord.Join}, {coord.Sync}, {coord.RLock},
}

// smallMailbox exposes a mailbox that is full soon, as region 3 if there are two.
func smallMailbox(t *testing.T, e *Engine) (*rma.Region, *mailbox.Reader) {
	g := mailbox.Geometry{Ranks: 2, Lines: 1, Rings: 2, Slots: 4, Room: 512}
	bytes := mem.Aligned(g.Size())
	box, err := mailbox.New(bytes, g)
	if err != nil {
		t.Fatal(err)
	}
	for i := range g.Rings {
		box.Shut(i)
		box.Place(i, 256*i, 256)
	}
	box.SetRing(1, 0)
	region, err := e.RMA.ExposeMailbox("mailbox", box, bytes, 0, false)
	if err != nil {
		t.Fatal(err)
	}
	return region, mailbox.NewReader(box)
}

// collect takes what has arrived in a mailbox.
func collect(e *Engine, region *rma.Region, r *mailbox.Reader) {
	var rec mailbox.Record
	for r.Take(&rec) {
		r.Bytes(&rec)
		if !rec.InRecord {
			r.Release(rec.Extent)
		}
		r.Done()
	}
	if region.Box.Wanted() {
		e.Room(0, region)
	}
}

// script joins frames as FuzzEngine takes them.
func script(frames [][]byte) (b []byte) {
	for _, frame := range frames {
		b = append(binary.LittleEndian.AppendUint16(b, uint16(len(frame))), frame...)
	}
	return b
}

// clog is how many frames a peer sends while it takes none, in half of the fuzzer's runs,
// and mostQueued how many frames may wait for it beyond an answer to each.
const (
	clog       = 200
	mostQueued = 300
)

// Everything that a peer can send is counted or acted upon; nothing panics, and
// nothing makes us hold more than we allow.
func FuzzEngine(f *testing.F) {
	for _, frames := range [][][]byte{
		{(&wire.Data{Channel: 1, Total: 5}).Append(nil), (&wire.Data{Channel: 1, Total: 5, AckReq: true}).Append(nil)},
		{append((&wire.Data{Channel: 1, Total: 5}).Append(nil), "hello"...), wire.AckReq{Channel: 1}.Append(nil)},
		{append((&wire.Data{Channel: 1, Total: 1 << 15}).Append(nil), make([]byte, 100)...)},
		{append((&wire.Data{Channel: 9, Total: 1}).Append(nil), 1)},
		{wire.RTS{Channel: 1, Total: 1 << 20, Token: 3}.Append(nil), wire.Piece{Token: 3}.Append(nil),
			wire.Settled{Token: 3}.Append(nil)},
		{wire.Fetch{Token: 1, N: 100}.Append(nil), wire.Fetched{Token: 1}.Append(nil)},
		{wire.Nack{Channel: 1}.Append(nil), wire.Go{Channel: 1}.Append(nil),
			wire.Ack{Channel: 1, Ack: 1, Room: 1 << 20}.Append(nil)},
		{append(wire.Attach{Op: 1}.Append(nil), "window"...)},
		{append(wire.Push{End: true, Region: 1, Key: 1, Limit: 4}.Append(nil), "four"...), wire.Flush{Op: 2}.Append(nil)},
		{append(wire.Put{Region: 1, Key: 1}.Append(nil), "four"...), wire.Pull{Region: 1, Key: 1, N: 64}.Append(nil)},
		{wire.Atomic{Region: 1, Key: 1, Code: wire.CodeAdd}.Append(nil), wire.Result{Op: 1 << 16}.Append(nil)},
		{
			append(wire.IPush{End: true, Region: 3, Key: 3, Entry: wire.NoEntry, Total: 40}.Append(nil), make([]byte, 40)...),
			append(wire.IPush{Op: 1, Region: 3, Key: 3, Entry: wire.NoEntry, Total: 200}.Append(nil), make([]byte, 100)...),
			append(wire.IPush{End: true, Op: 1, Region: 3, Key: 3, Entry: wire.NoEntry, Off: 100, Total: 200}.Append(nil),
				make([]byte, 100)...),
			append(wire.IPush{End: true, Op: 2, Region: 3, Key: 3, Entry: 1, Total: 100}.Append(nil), make([]byte, 100)...),
			append(wire.IPush{End: true, Op: 2, Round: 1, Region: 3, Key: 3, Entry: 1, Total: 100}.Append(nil),
				make([]byte, 100)...),
			append(wire.IPush{End: true, Op: 3, Region: 3, Entry: wire.NoEntry, Off: 9, Total: 10}.Append(nil), 1),
			wire.Knock{Region: 3}.Append(nil),
		},
		{wire.IStop{Op: 1<<16 + 2, Region: 1, Off: 100}.Append(nil), wire.IGo{Region: 1}.Append(nil),
			wire.IStop{Round: 1, Op: 1<<16 + 2, Region: 1, Off: 1 << 62}.Append(nil),
			wire.IGo{Round: 1, Region: 1}.Append(nil), wire.Result{Op: 1<<16 + 2, Status: wire.StatusForbidden}.Append(nil)},
		{append(wire.Pulled{Op: 1 << 16, End: true}.Append(nil), "data"...), wire.Attached{Op: 1 << 16, Size: 8}.Append(nil),
			wire.Bye{}.Append(nil)},
	} {
		f.Add(script(frames))
	}
	for id := range uint64(len(coordinated)) {
		var some [][]byte
		for k := wire.EventKind(1); !strings.HasPrefix(k.String(), "event "); k++ {
			some = append(some, wire.Event{Kind: k, Rank: 1, ID: id, Phase: 1, Arg: 1, Aux: 1}.Append(nil))
		}
		f.Add(script(some))
		slices.Reverse(some)
		f.Add(script(append(some, wire.Guard{Lock: id, Epoch: 3}.Append(nil))))
	}
	f.Fuzz(func(t *testing.T, script []byte) {
		c := newCluster(t, 2, 512)
		e := c.engines[0]
		p := c.open(0, msg.Config{RecvBuffer: 64 << 10})
		region := mem.Aligned(64)
		if _, err := e.RMA.Expose("window", region, 0, false, 0, nil); err != nil {
			t.Fatal(err)
		}
		// What the peer may answer.
		p.Start(&msg.Op{Kind: msg.Send, Peer: 1, Buf: make([]byte, 100)})
		p.Start(&msg.Op{Kind: msg.Send, Peer: 1, Buf: make([]byte, 1<<16)})
		p.Start(&msg.Op{Kind: msg.Recv, Peer: 1, Buf: make([]byte, 10)})
		e.RMA.Start(&rma.Op{Kind: rma.Pull, Peer: 1, Buf: make([]byte, 8)})
		e.RMA.Start(&rma.Op{Kind: rma.Flush, Peer: 1})
		var ids []uint64
		for i, cfg := range coordinated {
			o, err := e.Coord.Open(c.now, cfg)
			if err != nil {
				t.Fatal(err)
			}
			ids = append(ids, o.ID)
			for _, kind := range attempts[i] {
				e.Coord.Start(c.now, &coord.Op{Kind: kind, Object: o, N: 1})
			}
		}
		if _, err := e.RMA.Expose("guarded", mem.Aligned(8), 0, false, ids[0], nil); err != nil {
			t.Fatal(err)
		}
		box, reader := smallMailbox(t, e)
		e.RMA.Start(&rma.Op{Kind: rma.IPush, Peer: 1, Region: 1, Buf: make([]byte, 300)})
		var out [8]link.Packet
		drain := func() {
			for {
				rank, n, _ := e.Output(c.now, out[:])
				if n == 0 {
					return
				}
				e.Taken(c.now, rank, n, n, out[:])
			}
		}
		frames := 0
		clogged := len(script) > 0 && script[len(script)-1]%2 == 1
		for len(script) >= 2 {
			n := min(int(binary.LittleEndian.Uint16(script)), len(script)-2)
			frame := bytes.Clone(script[2 : 2+n])
			if n >= 16 && (frame[0] == byte(wire.TypeEvent) || frame[0] == byte(wire.TypeGuard)) {
				binary.LittleEndian.PutUint64(frame[8:], ids[frame[8]%byte(len(ids))]) // else it would find none of them
			}
			e.Recv(c.now, 1, frame)
			script = script[2+n:]
			if n%2 == 0 {
				collect(e, box, reader)
			}
			c.now += 1000
			e.Advance(c.now)
			if frames++; clogged && frames < clog {
				if k := e.peer(1).q.Len(); k > mostQueued+frames {
					t.Fatalf("%d frames wait for a peer that takes none and has sent %d", k, frames)
				}
			} else {
				drain()
			}
			for op := e.Msg.Finished(); op != nil; op = e.Msg.Finished() {
				if op.State == msg.Offered {
					p.Decline(op)
				}
			}
			for op := e.RMA.Finished(); op != nil; op = e.RMA.Finished() {
			}
			for op := e.Coord.Finished(); op != nil; op = e.Coord.Finished() {
			}
		}
		drain()
		// What a peer can make us hold does not grow with what it sends.
		held := e.Msg.MemoryBytes()
		limit := 64<<10 + 1<<20 + 2*msg.MaxEager
		if held > limit {
			t.Errorf("ports hold %d bytes, and may hold %d", held, limit)
		}
		if k := e.peer(1).q.Len(); k > 0 {
			t.Errorf("%d frames wait to be sent, and the transport takes all", k)
		}
		if reader.Bad > 0 {
			t.Errorf("the engine has written %d records that cannot be true", reader.Bad)
		}
	})
}
