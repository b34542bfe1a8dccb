// Package replay plays back what package record has recorded. It calls the same methods of record.Engine as the driver.
//
// Tested in replay_test.go.
package replay

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime/debug"

	"weft/internal/engine"
	"weft/internal/engine/coord"
	"weft/internal/engine/link"
	"weft/internal/engine/msg"
	"weft/internal/engine/rma"
	"weft/internal/engine/wire"
	"weft/internal/record"
)

// ErrDiverged reports that an engine did not do what the recording says: this
// is not the code that was recorded, or the engine depends on something that
// was not.
var ErrDiverged = errors.New("weft: the engine has not done what was recorded")

// ErrPanic reports that the engine panics, as it did in the recorded run; or the recording is damaged.
var ErrPanic = errors.New("weft: the engine panics, as in the recorded run, or the recording is damaged")

// A Result is what came of a replay.
type Result struct {
	Inputs, States int // played, and states compared
	Hash           uint64
	Engine         *record.Engine
}

// Play plays a recording. Visit, if not nil, sees each input before it is
// played. A recording that ends in the middle of a line, because its process
// was killed, is played as far as it goes.
func Play(r io.Reader, visit func(record.Input)) (Result, error) {
	p := &player{in: json.NewDecoder(bufio.NewReader(r)), visit: visit, ops: map[int]any{}, blocks: map[int]*msg.Block{},
		regions: map[uint32]*rma.Region{}}
	return p.run()
}

// run plays all inputs. A panic of the engine becomes an error: of a good recording it is what the recorded process
// died of, else the recording is damaged.
func (p *player) run() (_ Result, err error) {
	var e record.Input
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("input %d, %q: %w: %v\n%s", p.Inputs, e.Do, ErrPanic, v, debug.Stack())
		}
	}()
	for {
		e, err = p.next()
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return p.Result, nil
		}
		if err == nil && p.Engine == nil && e.Do != "engine" {
			err = errors.New("weft: this is no recording: it does not begin with an engine")
		}
		if err == nil {
			err = p.play(e)
		}
		if err != nil {
			return p.Result, fmt.Errorf("input %d, %q: %w", p.Inputs, e.Do, err)
		}
	}
}

type player struct {
	Result
	in      *json.Decoder
	visit   func(record.Input)
	ports   []*msg.Port
	ops     map[int]any
	blocks  map[int]*msg.Block
	regions map[uint32]*rma.Region
	objects []*coord.Object
	taken   *msg.Block // by the last "straight"
	packets [64]link.Packet
	scratch []byte // the buffers of all operations
	kept    int    // bytes of regions
	failed  error  // met inside the engine
}

func (p *player) next() (e record.Input, err error) {
	if err = p.in.Decode(&e); err == nil {
		p.Inputs++
		if p.visit != nil {
			p.visit(e)
		}
	}
	return e, err
}

// inside returns the next input, which the engine has found out itself.
func (p *player) inside(do record.Kind) record.Input {
	e, err := p.next()
	if err == nil && e.Do != do {
		err = fmt.Errorf("%w: it asks for %q", ErrDiverged, do)
	}
	if err != nil && p.failed == nil {
		p.failed = err
	}
	return e
}

// Push is that of a lane: what it returned was recorded.
func (p *player) Push(header, payload []byte, urgent bool) bool { return p.inside("lane").OK }

func diverged(what string, got, want any) error {
	return fmt.Errorf("%w: %s is %v, was %v", ErrDiverged, what, got, want)
}

// play applies an input, and compares what came of it.
func (p *player) play(in record.Input) (err error) {
	if err := p.resolve(&in); err != nil {
		return err
	}
	switch in.Do {
	case "engine":
		err = p.begin(in)
	case "state":
		p.States++
		if p.Hash = p.Engine.Fingerprint(); p.Hash != in.Hash {
			err = diverged("the state", fmt.Sprintf("%#x", p.Hash), fmt.Sprintf("%#x", in.Hash))
		}
	case "connect":
		err = p.connect(in)
	case "output":
		if rank, n, _ := p.Engine.Output(in.Now, p.packets[:]); n != in.N || n > 0 && rank != in.Rank {
			err = diverged("the output", fmt.Sprintf("%d packets for rank %d", n, rank),
				fmt.Sprintf("%d for %d", in.N, in.Rank))
		}
	case "taken":
		p.Engine.Taken(in.Now, in.Rank, in.N, in.M, p.packets[:])
	case "finished":
		err = p.finished(&in)
	case "next", "reserve", "lend", "hold":
		err = p.lend(&in)
	case "open", "object", "expose", "mailbox", "put":
		err = p.make(&in)
	default:
		err = p.call(&in)
	}
	if err == nil {
		err = p.failed
	}
	return err
}

// resolve finds what the numbers of an input stand for, and makes the operation that it starts.
func (p *player) resolve(in *record.Input) error {
	r := &in.Ref
	if in.Port < 0 || in.Port > len(p.ports) {
		return record.ErrDamaged
	}
	if in.Port > 0 {
		r.Port = p.ports[in.Port-1]
	}
	if in.Do == record.Down {
		in.Cause = errors.New(in.Name)
	}
	err := p.operation(in)
	if err != nil {
		return err
	}
	switch in.Do {
	case record.Withdraw, record.Room:
		r.Region = p.regions[in.Region]
		if in.Do == record.Withdraw && r.Region != nil {
			p.kept -= len(r.Region.Bytes)
			delete(p.regions, in.Region)
		}
	case record.Fetch, record.Fetched:
		if r.Msg != nil && len(r.Msg.Buf) != in.N {
			r.Msg.Buf, err = p.buffer(in.N)
		}
	case "release", "commit", record.Discard, record.Shorten:
		r.Block = p.blocks[in.Block]
		if in.Do != record.Shorten {
			delete(p.blocks, in.Block)
		}
	}
	return err
}

// operation finds, or makes, the operation of an input.
func (p *player) operation(in *record.Input) error {
	if in.Op == 0 {
		return nil
	}
	switch {
	case in.Do == "start" && in.Msg != nil:
		m := in.Msg
		op := &msg.Op{Kind: m.Kind, Peer: m.Peer, Mem: m.Mem, Addr: m.Addr, Alone: in.OK, Aside: m.Aside}
		b, err := p.buffer(m.Len)
		if err != nil {
			return err
		}
		if !m.Nil {
			op.Buf = b
		}
		p.ops[in.Op] = op
	case in.Do == "access" && in.RMA != nil:
		a := in.RMA
		b, err := p.buffer(a.Len)
		if err != nil {
			return err
		}
		p.ops[in.Op] = &rma.Op{
			Kind: rma.Kind(a.Kind), Code: wire.Code(a.Code), Peer: a.Peer, Name: a.Name, Region: a.Region, Key: a.Key,
			Off: a.Off, A: a.A, B: a.B, Entry: a.Entry, Mode: a.Mode, Lock: a.Lock, Epoch: a.Epoch, Buf: b,
		}
	case in.Do == "sync" && in.Sync != nil:
		op := &coord.Op{Kind: in.Sync.Kind, N: in.Sync.N}
		switch n := in.Sync.Object; {
		case n > 0 && n <= len(p.objects):
			op.Object = p.objects[n-1]
		case n != 0 || op.Kind != coord.Bind:
			return record.ErrDamaged
		}
		p.ops[in.Op] = op
	}
	switch op := p.ops[in.Op].(type) {
	case *msg.Op:
		in.Ref.Msg = op
	case *rma.Op:
		in.Ref.RMA = op
	case *coord.Op:
		in.Ref.Sync = op
	default:
		return record.ErrDamaged
	}
	return nil
}

func (p *player) begin(in record.Input) error {
	c := in.Engine
	if p.Engine != nil || c == nil || c.Size < 1 || c.Size > mostRanks || c.Rank < 0 || c.Rank >= c.Size {
		return record.ErrDamaged
	}
	e := record.New(nil, engine.Config{
		Rank: c.Rank, Size: c.Size, MaxQueue: c.MaxQueue, Job: c.Job, Secret: c.Secret, Incarnation: c.Incarnation,
		Link: c.Link,
		Rand: func() uint64 { return p.inside("random").Random },
	})
	p.Engine = &e
	return nil
}

// call makes a call without a result to compare.
func (p *player) call(in *record.Input) error {
	e := p.Engine
	switch r := &in.Ref; {
	case in.Do == "recv":
		e.Recv(in.Now, in.Rank, in.Bytes)
	case in.Do == "since":
		e.Since(in.Now)
	case in.Do == "advance":
		e.Advance(in.Now)
	case in.Do == "wanted":
		e.Wanted(in.Now, nil)
	case in.Do == "awaited":
		e.Awaited(in.Now, nil)
	case in.Do == "return":
		e.Return(in.Now)
	case in.Do == "access" && r.RMA != nil:
		e.Access(r.RMA)
	case in.Do == "cancel access" && r.RMA != nil:
		e.CancelAccess(r.RMA)
	case in.Do == "sync" && r.Sync != nil:
		e.Coordinate(in.Now, r.Sync)
	case r.Port == nil:
		return e.Repeat(*in)
	case in.Do == "thaw":
		_ = e.Thaw(r.Port) // what failed in the recorded run fails again
	case in.Do == "straight":
		p.straight(in)
	case in.Do == "restore":
		_ = e.Restore(r.Port, in.Bytes) // the same
	case in.Do == "give":
		b, err := p.buffer(in.N)
		if err != nil {
			return err
		}
		e.Give(r.Port, in.Rank, b)
	case in.Do == "start" && r.Msg != nil:
		e.Start(r.Port, r.Msg)
	case in.Do == "commit" && r.Block != nil:
		e.Commit(r.Port, in.Rank, r.Block)
	case in.Do == "release" && r.Block != nil:
		e.Release(r.Port, r.Block)
	default:
		return e.Repeat(*in)
	}
	return nil
}

// straight hands a packet over to a receive without an operation.
func (p *player) straight(in *record.Input) {
	var buf []byte
	if !in.OK {
		buf = make([]byte, in.N)
	}
	w, _ := p.Engine.Straight(in.Ref.Port, in.Rank, in.Bytes, buf)
	p.taken = w.Block
}

// connect makes a peer reachable. The player stands for its lane.
func (p *player) connect(in record.Input) error {
	if in.Path == nil || in.Path.MTU > mostMTU {
		return record.ErrDamaged
	}
	path := *in.Path
	if in.OK {
		path.Lane = p
	}
	p.Engine.Connect(in.Now, in.Rank, path)
	return nil
}

// finished takes back an operation that must have ended.
func (p *player) finished(in *record.Input) error {
	same := false
	switch r := &in.Ref; {
	case r.Msg != nil:
		same = p.Engine.Msg.Finished() == r.Msg
	case r.RMA != nil:
		same = p.Engine.RMA.Finished() == r.RMA
	case r.Sync != nil:
		same = p.Engine.Coord.Finished() == r.Sync
	}
	if !same {
		return diverged("the operation that ended", "another one", in.Op)
	}
	return nil
}

// lend keeps a block that a port lends, for the inputs about it.
func (p *player) lend(in *record.Input) error {
	var b *msg.Block
	what := "the message"
	switch r := &in.Ref; {
	case in.Do == "lend" && r.Msg != nil:
		b = r.Msg.Block
	case r.Port == nil:
		return record.ErrDamaged
	case in.Do == "hold":
		b = p.taken
	case in.Do == "next":
		what = "the next message"
		b, _ = r.Port.Next(in.Rank)
	case in.Do == "reserve":
		what = "the draft"
		if _, err := p.buffer(in.N); err != nil {
			return err
		}
		b = r.Port.Reserve(in.Rank, in.N)
	}
	if b == nil {
		return diverged(what, "none", "one")
	}
	p.blocks[in.Block] = b
	return nil
}
