package record

import (
	"io"

	"weft/internal/engine"
	"weft/internal/engine/coord"
	"weft/internal/engine/link"
	"weft/internal/engine/msg"
	"weft/internal/engine/rma"
	"weft/internal/mailbox"
	"weft/internal/monotime"
)

// An Engine is an engine.Engine whose inputs may be recorded. What changes its state goes through
// Do and the methods here, and nowhere else: of what is promoted from engine.Engine and its layers only
// what looks may be called.
//
// An input is noted before it is applied, so that a crash does not lose it; or after it, where it tells what came
// of it and has no other effect that a replay would need first.
//
// Where nothing is recorded, tape is nil, and a method costs one comparison more than the engine's own.
type Engine struct {
	*engine.Engine
	tape *tape
}

// New returns the engine of a configuration. It is recorded to w, unless w is nil: every input is written at once,
// so that those before a crash are there.
func New(w io.Writer, cfg engine.Config) Engine {
	if w == nil {
		return Engine{Engine: engine.New(cfg)}
	}
	t := newTape(w, &cfg)
	t.engine = engine.New(cfg)
	return Engine{t.engine, t}
}

// Recording reports whether inputs are recorded.
func (e *Engine) Recording() bool { return e.tape != nil }

// End notes the engine's state at the end of its life, for a replay to compare.
func (e *Engine) End() {
	if e.tape != nil {
		e.tape.noteState()
	}
}

// Err returns why the recording is not complete, or nil.
func (e *Engine) Err() error {
	if e.tape == nil {
		return nil
	}
	return e.tape.err
}

// Do applies one of the inputs that have no method of their own. It panics if there is no such input: the caller names
// what it is about.
func (e *Engine) Do(in Input) {
	if e.tape != nil {
		e.tape.note(in)
	}
	if err := e.Repeat(in); err != nil {
		panic(err)
	}
}

// Repeat is Do for an input from a recording: it is not noted, and one that makes no sense is an error.
func (e *Engine) Repeat(in Input) error { return in.apply(e.Engine) }

// Connect makes a peer reachable. What becomes of the packets that go by its lane is recorded, too.
func (e *Engine) Connect(now monotime.Time, rank int, path engine.Path) {
	if e.tape != nil {
		laned := path.Lane != nil
		if laned {
			path.Lane = &lane{path.Lane, e.tape}
		}
		written := path
		written.Lane = nil
		e.tape.seal.Agree(uint32(rank), path.Incarnation, path.Share)
		e.tape.note(Input{Do: "connect", Now: now, Rank: rank, Path: &written, OK: laned})
	}
	e.Engine.Connect(now, rank, path)
}

// Recv hands over a packet that has arrived.
func (e *Engine) Recv(now monotime.Time, from int, pkt []byte) {
	if e.tape != nil {
		e.tape.note(Input{Do: "recv", Now: now, Rank: from, Bytes: e.tape.sealed(from, pkt)})
	}
	e.Engine.Recv(now, from, pkt)
}

// Straight hands a packet over to a receive that begins now. It is noted before it is known whether the engine takes
// it so, because what the engine sends then is noted, too: if not, the replay fails in the same way.
func (e *Engine) Straight(to *msg.Port, from int, pkt, buf []byte) (w msg.Whole, ok bool) {
	if e.tape == nil {
		return e.Engine.Straight(to, from, pkt, buf)
	}
	e.tape.note(Input{Do: "straight", Rank: from, N: len(buf), OK: buf == nil, Bytes: pkt, Ref: Ref{Port: to}})
	w, ok = e.Engine.Straight(to, from, pkt, buf)
	if w.Block != nil {
		e.tape.note(Input{Do: "hold", Ref: Ref{Port: to, Block: w.Block}})
	}
	return w, ok
}

// Since says that the packets handed over next may have come at any time after t.
func (e *Engine) Since(t monotime.Time) {
	if e.tape != nil {
		e.tape.note(Input{Do: "since", Now: t})
	}
	e.Engine.Since(t)
}

// Advance runs the timers that are due.
func (e *Engine) Advance(now monotime.Time) {
	if e.tape != nil {
		e.tape.note(Input{Do: "advance", Now: now})
	}
	e.Engine.Advance(now)
}

// Output takes the next packets to send.
func (e *Engine) Output(now monotime.Time, dst []link.Packet) (rank, n int, urgent bool) {
	rank, n, urgent = e.Engine.Output(now, dst)
	if e.tape != nil {
		e.tape.note(Input{Do: "output", Now: now, Rank: rank, N: n})
	}
	return rank, n, urgent
}

// Taken says how many packets of the last Output a transport has taken.
func (e *Engine) Taken(now monotime.Time, rank, n, took int, dst []link.Packet) {
	if e.tape != nil {
		e.tape.note(Input{Do: "taken", Now: now, Rank: rank, N: n, M: took})
	}
	e.Engine.Taken(now, rank, n, took, dst)
}

// Wanted appends the ranks that must be dialled, each once. It is noted only if there are
// any: otherwise the call has changed nothing.
func (e *Engine) Wanted(now monotime.Time, dst []int) []int {
	dst = e.Engine.Wanted(dst)
	if e.tape != nil && len(dst) > 0 {
		e.tape.note(Input{Do: "wanted", Now: now})
	}
	return dst
}

// Awaited appends the ranks of which the launcher must tell, each once. It is noted as Wanted is.
func (e *Engine) Awaited(now monotime.Time, dst []int) []int {
	dst = e.Engine.Awaited(dst)
	if e.tape != nil && len(dst) > 0 {
		e.tape.note(Input{Do: "awaited", Now: now})
	}
	return dst
}

// Return says that the program of this process has returned.
func (e *Engine) Return(now monotime.Time) (told []int) {
	if e.tape != nil {
		e.tape.note(Input{Do: "return", Now: now})
	}
	return e.Engine.Return()
}

// Finished notes that an operation was taken from the engine's list of those that have ended.
func (e *Engine) Finished(r Ref) {
	if e.tape != nil {
		e.tape.note(Input{Do: "finished", Ref: r})
	}
}

// Open opens a channel.
func (e *Engine) Open(channel uint16, cfg msg.Config) (*msg.Port, error) {
	if e.tape == nil {
		return e.Msg.Open(channel, cfg)
	}
	e.tape.note(Input{Do: "open", N: int(channel), Open: &cfg})
	p, err := e.Msg.Open(channel, cfg)
	if err == nil {
		e.tape.opened(p)
	}
	return p, err
}

// Start starts a message operation.
func (e *Engine) Start(p *msg.Port, op *msg.Op) {
	if e.tape != nil {
		e.tape.note(Input{Do: "start", OK: op.Alone, Ref: Ref{Port: p, Msg: op}})
	}
	if op.Kind == msg.Freeze {
		e.Freeze(p, op)
		return
	}
	p.Start(op)
}

// Lent notes that an operation has handed out the block that it received into, if any.
func (e *Engine) Lent(p *msg.Port, op *msg.Op) {
	if e.tape != nil && op.Block != nil {
		e.tape.note(Input{Do: "lend", Ref: Ref{Port: p, Msg: op, Block: op.Block}})
	}
}

// Give sends a short message if there is room for it.
func (e *Engine) Give(p *msg.Port, to int, b []byte) bool {
	if e.tape != nil {
		e.tape.note(Input{Do: "give", Rank: to, N: len(b), Ref: Ref{Port: p}})
	}
	return p.Give(to, b)
}

// Next lends the next short message, or returns nil.
func (e *Engine) Next(p *msg.Port, from int) (b *msg.Block, sender int) {
	b, sender = p.Next(from)
	if e.tape != nil && b != nil {
		e.tape.note(Input{Do: "next", Rank: from, Ref: Ref{Port: p, Block: b}})
	}
	return b, sender
}

// Release ends the loan of a message, and reports whether there is something to send.
func (e *Engine) Release(p *msg.Port, b *msg.Block) bool {
	if e.tape != nil {
		e.tape.note(Input{Do: "release", Ref: Ref{Port: p, Block: b}})
	}
	return p.Release(b)
}

// Reserve lends a block for a draft, or returns nil if there is no room.
func (e *Engine) Reserve(p *msg.Port, to, size int) *msg.Block {
	b := p.Reserve(to, size)
	if e.tape != nil && b != nil {
		e.tape.note(Input{Do: "reserve", Rank: to, N: size, Ref: Ref{Port: p, Block: b}})
	}
	return b
}

// Commit sends a draft.
func (e *Engine) Commit(p *msg.Port, to int, b *msg.Block) {
	if e.tape != nil {
		e.tape.note(Input{Do: "commit", Rank: to, Ref: Ref{Port: p, Block: b}})
	}
	p.Commit(to, b)
}

// Thaw ends the freezing of a port.
func (e *Engine) Thaw(p *msg.Port) error {
	if e.tape != nil {
		e.tape.note(Input{Do: "thaw", Ref: Ref{Port: p}})
	}
	return p.Thaw()
}

// Restore makes a saved state that of a frozen port.
func (e *Engine) Restore(p *msg.Port, saved []byte) error {
	if e.tape != nil {
		e.tape.note(Input{Do: "restore", Bytes: saved, Ref: Ref{Port: p}})
	}
	_, err := p.Restore(saved)
	return err
}

// Access starts an operation on a peer's memory.
func (e *Engine) Access(op *rma.Op) {
	if e.tape != nil {
		e.tape.note(Input{Do: "access", Ref: Ref{RMA: op}})
	}
	e.RMA.Start(op)
}

// CancelAccess takes such an operation back, and reports whether its effect is unknown.
func (e *Engine) CancelAccess(op *rma.Op) (unknown bool) {
	if e.tape != nil {
		e.tape.note(Input{Do: "cancel access", Ref: Ref{RMA: op}})
	}
	ok, unknown := e.RMA.Cancel(op)
	if ok && len(op.Buf) > 0 {
		e.Detach(op.Buf)
	}
	return unknown
}

// Put writes a few bytes to a peer's region, or updates a few words of it.
func (e *Engine) Put(op *rma.Op) error {
	if e.tape != nil {
		a := &Access{Code: uint8(op.Code), Key: op.Key, Off: op.Off, Lock: op.Lock, Epoch: op.Epoch}
		e.tape.note(Input{Do: "put", Rank: op.Peer, Region: op.Region, N: len(op.Buf), RMA: a})
	}
	return e.RMA.Put(op)
}

// Expose makes memory of this process reachable.
func (e *Engine) Expose(
	name string, bytes []byte, mem uint32, readOnly bool, guard uint64, ranks []int,
) (*rma.Region, error) {
	if e.tape != nil {
		e.tape.note(Input{
			Do: "expose", Name: name, N: len(bytes), Region: mem, OK: readOnly, Random: guard, Ranks: ranks,
		})
	}
	return e.RMA.Expose(name, bytes, mem, readOnly, guard, ranks)
}

// ExposeMailbox makes a mailbox of this process reachable.
func (e *Engine) ExposeMailbox(
	name string, box *mailbox.Box, bytes []byte, mem uint32, stall bool,
) (*rma.Region, error) {
	if e.tape != nil {
		e.tape.note(Input{Do: "mailbox", Name: name, N: len(bytes), Region: mem, OK: stall, Box: &box.Geometry})
	}
	return e.RMA.ExposeMailbox(name, box, bytes, mem, stall)
}

// OpenObject opens a lock, semaphore, condition or barrier.
func (e *Engine) OpenObject(now monotime.Time, cfg *coord.Config) (*coord.Object, error) {
	if e.tape == nil {
		return e.Coord.Open(now, *cfg)
	}
	e.tape.note(Input{Do: "object", Now: now, Object: cfg})
	o, err := e.Coord.Open(now, *cfg)
	if err == nil {
		e.tape.made(o)
	}
	return o, err
}

// Coordinate starts an operation on such an object.
func (e *Engine) Coordinate(now monotime.Time, op *coord.Op) {
	if e.tape != nil {
		e.tape.note(Input{Do: "sync", Now: now, Ref: Ref{Sync: op}})
	}
	e.Coord.Start(now, op)
}
