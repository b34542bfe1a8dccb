package record

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"weft/internal/engine"
	"weft/internal/engine/coord"
	"weft/internal/engine/link"
	"weft/internal/engine/msg"
	"weft/internal/engine/rma"
	"weft/internal/engine/wire"
	"weft/internal/mailbox"
	"weft/internal/mem"
)

// ErrDiverged reports that an engine did not do what the recording says: this
// is not the code that was recorded, or the engine depends on something that
// was not.
var ErrDiverged = errors.New("weft: the engine has not done what was recorded")

// A Result is what came of a replay.
type Result struct {
	Events, States int // played, and states compared
	Hash           uint64
	Engine         *engine.Engine
}

// Replay plays a recording. Visit, if not nil, sees each event before it is
// played. A recording that ends in the middle of a line, because its process
// was killed, is played as far as it goes.
func Replay(r io.Reader, visit func(Event)) (Result, error) {
	p := &player{in: json.NewDecoder(bufio.NewReader(r)), visit: visit, ops: map[int]any{}, blocks: map[int]*msg.Block{},
		regions: map[uint32]*rma.Region{}}
	for {
		e, err := p.next()
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
			return p.Result, fmt.Errorf("event %d, %q: %w", p.Events, e.Do, err)
		}
	}
}

type player struct {
	Result
	in      *json.Decoder
	rank    int // whose engine it is
	visit   func(Event)
	ports   []*msg.Port
	ops     map[int]any
	blocks  map[int]*msg.Block
	regions map[uint32]*rma.Region
	objects []*coord.Object
	packets [64]link.Packet
	failed  error // met inside the engine
}

func (p *player) next() (e Event, err error) {
	if err = p.in.Decode(&e); err == nil {
		p.Events++
		if p.visit != nil {
			p.visit(e)
		}
	}
	return e, err
}

// inside returns the next event, which the engine has found out itself.
func (p *player) inside(do string) Event {
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

func (p *player) play(e Event) (err error) {
	eng := p.Engine
	switch e.Do {
	case "engine":
		err = p.begin(e)
	case "state":
		p.States++
		if p.Hash = eng.Fingerprint(); p.Hash != e.Hash {
			err = diverged("the state", fmt.Sprintf("%#x", p.Hash), fmt.Sprintf("%#x", e.Hash))
		}
	case "connect":
		path := engine.Path{MTU: e.N, Lossy: e.OK, Guard: e.Guard, Beats: e.M&beats != 0, Devices: e.M >> devices,
			Incarnation: e.Incarnation}
		if e.M&laned != 0 {
			path.Lane = p
		}
		eng.Connect(e.Now, e.Rank, path)
	case "resize":
		eng.Resize(e.Now, e.Rank, e.N)
	case "recv":
		eng.Recv(e.Now, e.Rank, e.Bytes)
	case "advance":
		eng.Advance(e.Now)
	case "output":
		if rank, n, _ := eng.Output(e.Now, p.packets[:]); n != e.N || n > 0 && rank != e.Rank {
			err = diverged("the output", fmt.Sprintf("%d packets for rank %d", n, rank), fmt.Sprintf("%d for %d", e.N, e.Rank))
		}
	case "taken":
		eng.Taken(e.Now, e.Rank, e.N, e.M, p.packets[:])
	case "since":
		eng.Since(e.Now)
	case "retry":
		eng.Retry()
	case "pause":
		eng.Pause()
	case "wanted":
		eng.Wanted(nil)
	case "want":
		eng.Want(e.Rank)
	case "down":
		eng.Down(e.Rank, errors.New(e.Name), e.OK)
	case "drain":
		eng.Msg.Drain()
	case "return":
		eng.Return()
	case "returned":
		eng.Returned(e.Rank)
	case "leave":
		eng.Leave()
	case "object", "sync", "cancel sync":
		err = p.coordination(e)
	case "access", "cancel access", "put", "expose", "mailbox", "room", "knock", "withdraw":
		err = p.memory(e)
	case "finished":
		err = p.finished(e)
	default:
		err = p.message(e)
	}
	if err == nil {
		err = p.failed
	}
	return err
}

func (p *player) begin(e Event) error {
	c := e.Engine
	if p.Engine != nil || c == nil || c.Size < 1 || c.Rank < 0 || c.Rank >= c.Size {
		return errors.New("weft: the recording is damaged")
	}
	p.rank = c.Rank
	p.Engine = engine.New(engine.Config{
		Rank: c.Rank, Size: c.Size, MaxQueue: c.MaxQueue, Job: c.Job, Secret: c.Secret, Incarnation: c.Incarnation,
		Link: c.Link,
		Rand: func() uint64 { return p.inside("random").Random },
	})
	return nil
}

// finished takes back an operation that must have ended.
func (p *player) finished(e Event) error {
	same := false
	switch op := p.ops[e.Op].(type) {
	case *msg.Op:
		same = p.Engine.Msg.Finished() == op
	case *rma.Op:
		same = p.Engine.RMA.Finished() == op
	case *coord.Op:
		same = p.Engine.Coord.Finished() == op
	}
	if !same {
		return diverged("the operation that ended", "another one", e.Op)
	}
	return nil
}

var errDamaged = errors.New("weft: the recording is damaged: it names what is not there")

func (p *player) memory(e Event) error {
	rm := p.Engine.RMA
	switch e.Do {
	case "access":
		a := e.RMA
		if a == nil {
			return errDamaged
		}
		op := &rma.Op{
			Kind: rma.Kind(a.Kind), Code: wire.Code(a.Code), Peer: a.Peer, Name: a.Name, Region: a.Region, Key: a.Key,
			Off: a.Off,
			A:   a.A, B: a.B, Entry: a.Entry, Mode: a.Mode, Lock: a.Lock, Epoch: a.Epoch, Buf: make([]byte, a.Len),
		}
		p.ops[e.Op] = op
		rm.Start(op)
	case "cancel access":
		op, ok := p.ops[e.Op].(*rma.Op)
		if !ok {
			return errDamaged
		}
		if ok, _ := rm.Cancel(op); ok && len(op.Buf) > 0 {
			p.Engine.Detach(op.Buf)
		}
	case "put":
		if e.RMA == nil || e.N > wire.MaxPut {
			return errDamaged
		}
		_ = rm.Put(e.Rank, e.Region, e.RMA.Key, e.RMA.Off, make([]byte, e.N), e.RMA.Lock, e.RMA.Epoch)
	case "expose":
		r, err := rm.Expose(e.Name, mem.Aligned(e.N), e.Region, e.OK, e.Random, e.Ranks)
		if err == nil {
			p.regions[r.ID] = r
		}
	case "mailbox":
		if e.Box == nil {
			return errDamaged
		}
		bytes := mem.Aligned(e.N)
		box, err := mailbox.New(bytes, *e.Box)
		if err != nil {
			return errDamaged
		}
		r, err := rm.ExposeMailbox(e.Name, box, bytes, e.Region, e.OK)
		if err == nil {
			p.regions[r.ID] = r
		}
	case "room":
		r := p.regions[e.Region]
		if r == nil || r.Box == nil {
			return errDamaged
		}
		p.Engine.Room(e.Now, r)
	case "knock":
		rm.Knock(e.Rank, e.Region)
	case "withdraw":
		r := p.regions[e.Region]
		if r == nil {
			return errDamaged
		}
		rm.Withdraw(r)
		p.Engine.Detach(r.Bytes)
		if r.Box != nil {
			p.Engine.Room(e.Now, r)
		}
	}
	return nil
}

func (p *player) coordination(e Event) error {
	c := p.Engine.Coord
	switch {
	case e.Do == "object" && e.Object != nil:
		o, err := c.Open(e.Now, *e.Object)
		if err == nil && !slices.Contains(p.objects, o) {
			p.objects = append(p.objects, o)
		}
		return nil
	case e.Do == "sync" && e.Sync != nil && e.Sync.Object <= len(p.objects):
		op := &coord.Op{Kind: e.Sync.Kind, N: e.Sync.N}
		if e.Sync.Object > 0 {
			op.Object = p.objects[e.Sync.Object-1]
		} else if op.Kind != coord.Bind {
			return errDamaged
		}
		p.ops[e.Op] = op
		c.Start(e.Now, op)
		return nil
	case e.Do == "cancel sync":
		if op, ok := p.ops[e.Op].(*coord.Op); ok {
			c.Cancel(op)
			return nil
		}
	}
	return errDamaged
}
