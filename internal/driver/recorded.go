package driver

import (
	"io"

	"weft/internal/engine"
	"weft/internal/engine/coord"
	"weft/internal/engine/link"
	"weft/internal/engine/rma"
	"weft/internal/mailbox"
	"weft/internal/monotime"
	"weft/internal/record"
)

// A recordedEngine is the node's engine, and the recorder that notes every call that changes
// the engine's state (package record). The driver makes such calls through the methods here
// and in recordedport.go, and nowhere else. What is promoted from engine.Engine and is not
// redefined here only looks.
//
// An event is noted before the call that it stands for, so that a crash in the call does not
// lose it. It is noted after the call where it tells what the call returned.
//
// Where nothing is recorded, rec is nil and a method costs one comparison more than the
// engine's own.
type recordedEngine struct {
	*engine.Engine
	rec *record.Tape
}

// newEngine returns an engine that is recorded to w, unless w is nil.
func newEngine(cfg engine.Config, w io.Writer) recordedEngine {
	if w == nil {
		return recordedEngine{Engine: engine.New(cfg)}
	}
	eng, rec := record.New(w, cfg)
	return recordedEngine{eng, rec}
}

// recording reports whether calls are recorded.
func (e *recordedEngine) recording() bool { return e.rec != nil }

// end notes the engine's state at the end of its life, for a replay to compare.
func (e *recordedEngine) end() { e.rec.End() }

// Connect makes a peer reachable; the packets that go by its lane are recorded, too.
func (e *recordedEngine) Connect(now monotime.Time, rank int, path engine.Path) {
	if e.rec != nil {
		path.Lane = e.rec.Lane(path.Lane)
		e.rec.Connect(now, rank, path)
	}
	e.Engine.Connect(now, rank, path)
}

// Resize says how long packets to a peer may be from now on.
func (e *recordedEngine) Resize(now monotime.Time, rank, mtu int) {
	if e.rec != nil {
		e.rec.Note(record.Event{Do: "resize", Now: now, Rank: rank, N: mtu})
	}
	e.Engine.Resize(now, rank, mtu)
}

// Want asks for a connection to a rank.
func (e *recordedEngine) Want(rank int) {
	e.rec.Step("want", 0, rank)
	e.Engine.Want(rank)
}

// Wanted appends the ranks that must be dialled, each once. It is noted only if there are
// any: otherwise the call has changed nothing.
func (e *recordedEngine) Wanted(now monotime.Time, dst []int) []int {
	dst = e.Engine.Wanted(dst)
	if len(dst) > 0 {
		e.rec.Step("wanted", now, 0)
	}
	return dst
}

// Down says that a peer is gone.
func (e *recordedEngine) Down(rank int, cause error, clean bool) {
	if e.rec != nil {
		e.rec.Note(record.Event{Do: "down", Rank: rank, Name: cause.Error(), OK: clean})
	}
	e.Engine.Down(rank, cause, clean)
}

// Return says that the program of this process has returned.
func (e *recordedEngine) Return(now monotime.Time) (told []int) {
	e.rec.Step("return", now, 0)
	return e.Engine.Return()
}

// Returned says that the program of a peer has returned.
func (e *recordedEngine) Returned(now monotime.Time, rank int) {
	e.rec.Step("returned", now, rank)
	e.Engine.Returned(rank)
}

// Leave tells the peers that this process leaves the job.
func (e *recordedEngine) Leave() {
	e.rec.Step("leave", 0, 0)
	e.Engine.Leave()
}

// Since says that the packets handed over next may have come at any time after t.
func (e *recordedEngine) Since(t monotime.Time) {
	e.rec.Step("since", t, 0)
	e.Engine.Since(t)
}

// Recv hands over a packet that has arrived.
func (e *recordedEngine) Recv(now monotime.Time, from int, pkt []byte) {
	e.rec.Recv(now, from, pkt)
	e.Engine.Recv(now, from, pkt)
}

// Output takes the next packets to send.
func (e *recordedEngine) Output(now monotime.Time, dst []link.Packet) (rank, n int, urgent bool) {
	rank, n, urgent = e.Engine.Output(now, dst)
	if e.rec != nil {
		e.rec.Note(record.Event{Do: "output", Now: now, Rank: rank, N: n})
	}
	return rank, n, urgent
}

// Taken says how many packets of the last Output a transport has taken.
func (e *recordedEngine) Taken(now monotime.Time, rank, n, taken int, dst []link.Packet) {
	if e.rec != nil {
		e.rec.Note(record.Event{Do: "taken", Now: now, Rank: rank, N: n, M: taken})
	}
	e.Engine.Taken(now, rank, n, taken, dst)
}

// Advance runs the timers that are due.
func (e *recordedEngine) Advance(now monotime.Time) {
	e.rec.Step("advance", now, 0)
	e.Engine.Advance(now)
}

// Retry offers the packets again that found no room in a transport.
func (e *recordedEngine) Retry(now monotime.Time) {
	e.rec.Step("retry", now, 0)
	e.Engine.Retry()
}

// Pause puts off what is left to send until Retry.
func (e *recordedEngine) Pause(now monotime.Time) {
	e.rec.Step("pause", now, 0)
	e.Engine.Pause()
}

// finished notes that an operation (a *msg.Op, *rma.Op or *coord.Op) was taken from the
// engine's list of those that have ended.
func (e *recordedEngine) finished(op any) { e.rec.Op("finished", op) }

// access starts an operation on a peer's memory.
func (e *recordedEngine) access(op *rma.Op) {
	e.rec.Access(op)
	e.RMA.Start(op)
}

// cancelAccess takes such an operation back, and reports whether its effect is unknown.
func (e *recordedEngine) cancelAccess(op *rma.Op) (unknown bool) {
	e.rec.Op("cancel access", op)
	ok, unknown := e.RMA.Cancel(op)
	if ok && len(op.Buf) > 0 {
		e.Detach(op.Buf)
	}
	return unknown
}

// put writes a few bytes to a peer's region.
func (e *recordedEngine) put(rank int, region uint32, key, off uint64, b []byte, lock, epoch uint64) error {
	if e.rec != nil {
		access := &record.Access{Key: key, Off: off, Lock: lock, Epoch: epoch}
		e.rec.Note(record.Event{Do: "put", Rank: rank, Region: region, N: len(b), RMA: access})
	}
	return e.RMA.Put(rank, region, key, off, b, lock, epoch)
}

// expose makes memory of this process reachable.
func (e *recordedEngine) expose(
	name string, bytes []byte, mem uint32, readOnly bool, guard uint64, ranks []int,
) (*rma.Region, error) {
	e.rec.Note(record.Event{
		Do: "expose", Name: name, N: len(bytes), Region: mem, OK: readOnly, Random: guard, Ranks: ranks,
	})
	return e.RMA.Expose(name, bytes, mem, readOnly, guard, ranks)
}

// exposeMailbox makes a mailbox of this process reachable.
func (e *recordedEngine) exposeMailbox(
	name string, box *mailbox.Box, bytes []byte, mem uint32, stall bool,
) (*rma.Region, error) {
	e.rec.Note(record.Event{
		Do: "mailbox", Name: name, N: len(bytes), Region: mem, OK: stall, Box: &box.Geometry,
	})
	return e.RMA.ExposeMailbox(name, box, bytes, mem, stall)
}

// withdraw ends the exposure of a region or a mailbox.
func (e *recordedEngine) withdraw(now monotime.Time, r *rma.Region) {
	e.rec.Note(record.Event{Do: "withdraw", Now: now, Region: r.ID})
	e.RMA.Withdraw(r)
	e.Detach(r.Bytes)
	if r.Box != nil {
		e.Engine.Room(now, r) // frames held for want of room are refused now
	}
}

// Room says that room has been given back in a mailbox of this process.
func (e *recordedEngine) Room(now monotime.Time, r *rma.Region) {
	e.rec.Note(record.Event{Do: "room", Now: now, Region: r.ID})
	e.Engine.Room(now, r)
}

// knock tells a peer that something was written to its mailbox.
func (e *recordedEngine) knock(rank int, region uint32) {
	e.rec.Note(record.Event{Do: "knock", Rank: rank, Region: region})
	e.RMA.Knock(rank, region)
}

// openObject opens a lock, semaphore, condition or barrier.
func (e *recordedEngine) openObject(now monotime.Time, cfg *coord.Config) (*coord.Object, error) {
	e.rec.Object(now, cfg)
	o, err := e.Coord.Open(now, *cfg)
	if err == nil {
		e.rec.Made(o)
	}
	return o, err
}

// coordinate starts an operation on such an object.
func (e *recordedEngine) coordinate(now monotime.Time, op *coord.Op) {
	if e.rec != nil {
		e.rec.Sync(now, op)
	}
	e.Coord.Start(now, op)
}

// cancelCoordination takes such an operation back.
func (e *recordedEngine) cancelCoordination(op *coord.Op) {
	e.rec.Op("cancel sync", op)
	e.Coord.Cancel(op)
}
