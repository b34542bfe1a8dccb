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
)

// coordinated is what the fuzzed engine coordinates, and attempts what it has
// begun with each.
var coordinated = []coord.Config{
	{Class: coord.QueueLock, Name: "a"}, {Class: coord.QueueLock, Name: "b", Fair: true},
	{Class: coord.CentralLock, Name: "c"},
	{Class: coord.Semaphore, Name: "d", N: 1}, {Class: coord.Cond, Name: "e"},
	{Class: coord.Barrier, Name: "f", Algorithm: coord.Tree, Arity: 2, Window: 2},
	{Class: coord.Barrier, Name: "g", Aligned: true},
	{Class: coord.Regions, Name: "i"}, {Class: coord.RWLock, Name: "j"},
}

var attempts = [][]coord.Kind{
	{coord.Lock}, {coord.Lock}, {coord.TryLock}, {coord.Acquire, coord.Acquire}, {coord.Enter, coord.Signal},
	{coord.Pass, coord.Arrive}, {coord.Pass}, {coord.Sync}, {coord.RLock},
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

// fuzzSeeds adds scripts with each type of frame, and with each event for each kind of object.
func fuzzSeeds(f *testing.F) {
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
}

// An attacked engine is rank 0 of two, with operations of every kind under way, to which
// the other rank may answer. The other rank sends what it likes.
type attacked struct {
	*testing.T
	*cluster
	e       *Engine
	port    *msg.Port
	objects []uint64 // the IDs of what it coordinates
	box     *rma.Region
	reader  *mailbox.Reader
	frames  int // that have arrived
}

func newAttacked(t *testing.T) *attacked {
	c := newCluster(t, 2, 512)
	a := &attacked{T: t, cluster: c, e: c.engines[0], port: c.open(0, msg.Config{RecvBuffer: 64 << 10})}
	a.expose("window", 64, 0)
	a.port.Start(&msg.Op{Kind: msg.Send, Peer: 1, Buf: make([]byte, 100)})
	a.port.Start(&msg.Op{Kind: msg.Send, Peer: 1, Buf: make([]byte, 1<<16)})
	a.port.Start(&msg.Op{Kind: msg.Recv, Peer: 1, Buf: make([]byte, 10)})
	a.e.RMA.Start(&rma.Op{Kind: rma.Pull, Peer: 1, Buf: make([]byte, 8)})
	a.e.RMA.Start(&rma.Op{Kind: rma.Flush, Peer: 1})
	for i, cfg := range coordinated {
		o, err := a.e.Coord.Open(c.now, cfg)
		if err != nil {
			t.Fatal(err)
		}
		a.objects = append(a.objects, o.ID)
		for _, kind := range attempts[i] {
			a.e.Coord.Start(c.now, &coord.Op{Kind: kind, Object: o, N: 1})
		}
	}
	a.expose("guarded", 8, a.objects[0])
	a.box, a.reader = smallMailbox(t, a.e)
	a.e.RMA.Start(&rma.Op{Kind: rma.IPush, Peer: 1, Region: 1, Buf: make([]byte, 300)})
	return a
}

// expose exposes a region of n bytes, which a lock guards unless that is 0.
func (a *attacked) expose(name string, n int, lock uint64) {
	if _, err := a.e.RMA.Expose(name, mem.Aligned(n), 0, false, lock, nil); err != nil {
		a.Fatal(err)
	}
}

// receive hands a frame to the engine, and lets time pass.
func (a *attacked) receive(frame []byte) {
	if len(frame) >= 16 && (frame[0] == byte(wire.TypeEvent) || frame[0] == byte(wire.TypeGuard)) {
		// A script names an object by its number: the fuzzer would find none of the IDs.
		binary.LittleEndian.PutUint64(frame[8:], a.objects[frame[8]%byte(len(a.objects))])
	}
	a.e.Recv(a.now, 1, frame)
	if len(frame)%2 == 0 {
		collect(a.e, a.box, a.reader)
	}
	a.now += 1000
	a.e.Advance(a.now)
	a.frames++
}

// drain has the peer take all that the engine sends.
func (a *attacked) drain() {
	var out [8]link.Packet
	for {
		rank, n, _ := a.e.Output(a.now, out[:])
		if n == 0 {
			return
		}
		a.e.Taken(a.now, rank, n, n, out[:])
	}
}

// finish takes the operations that have ended, and declines the messages that are offered.
func (a *attacked) finish() {
	for op := a.e.Msg.Finished(); op != nil; op = a.e.Msg.Finished() {
		if op.State == msg.Offered {
			a.port.Decline(op)
		}
	}
	for op := a.e.RMA.Finished(); op != nil; op = a.e.RMA.Finished() {
	}
	for op := a.e.Coord.Finished(); op != nil; op = a.e.Coord.Finished() {
	}
}

// check is called when the peer has taken all: what it can make the engine hold does not grow
// with what it sends.
func (a *attacked) check() {
	held := a.e.Msg.MemoryBytes()
	limit := 64<<10 + 1<<20 + 2*msg.MaxFar
	if held > limit {
		a.Errorf("ports hold %d bytes, and may hold %d", held, limit)
	}
	if k := a.e.peer(1).q.Len(); k > 0 {
		a.Errorf("%d frames wait to be sent, and the transport takes all", k)
	}
	if a.reader.Bad > 0 {
		a.Errorf("the engine has written %d records that cannot be true", a.reader.Bad)
	}
}

// Everything that a peer can send is counted or acted upon; nothing panics, and
// nothing makes us hold more than we allow.
func FuzzEngine(f *testing.F) {
	fuzzSeeds(f)
	f.Fuzz(func(t *testing.T, script []byte) {
		a := newAttacked(t)
		clogged := len(script) > 0 && script[len(script)-1]%2 == 1
		for len(script) >= 2 {
			n := min(int(binary.LittleEndian.Uint16(script)), len(script)-2)
			a.receive(bytes.Clone(script[2 : 2+n]))
			script = script[2+n:]
			if clogged && a.frames < clog {
				if k := a.e.peer(1).q.Len(); k > mostQueued+a.frames {
					t.Fatalf("%d frames wait for a peer that takes none and has sent %d", k, a.frames)
				}
			} else {
				a.drain()
			}
			a.finish()
		}
		a.drain()
		a.check()
	})
}
