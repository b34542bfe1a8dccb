package traceevent

import (
	"bufio"
	"container/heap"
	"encoding/json"
	"fmt"
	"io"
	"math"

	"weft/internal/timeline"
)

// A Summary says what was written.
type Summary struct {
	Events  int
	Dropped uint64           // events that found no place any more
	Lost    int              // events that ranks which were killed did not hand over
	Absent  []int            // ranks that handed nothing over
	Early   int              // messages received, by these clocks, before they were sent
	Clocks  []timeline.Clock // how the clocks of the hosts were put on one
}

// Write puts the parts of a job on one clock, and writes them. Parts of ranks that handed
// nothing over are nil.
func Write(w io.Writer, parts []*timeline.Part) (s Summary, err error) {
	var present []*timeline.Part
	for rank, p := range parts {
		if p == nil {
			s.Absent = append(s.Absent, rank)
			continue
		}
		present = append(present, p)
		s.Events += len(p.Events)
		s.Dropped += p.Dropped
		s.Lost += p.Lost
	}
	s.Clocks = timeline.Align(present)
	s.Early = timeline.Early(present)
	f := file{out: bufio.NewWriterSize(w, 1<<16), base: first(present), ranks: len(parts), named: map[int]bool{}}
	f.json = json.NewEncoder(f.out)
	_, _ = f.out.WriteString(head)
	f.describe(s)
	var open ranks
	for _, p := range present {
		f.describeRank(p)
		if r := (&rank{part: p}); r.advance() {
			open = append(open, r)
		}
	}
	heap.Init(&open)
	for len(open) > 0 {
		r := open[0]
		f.mark(r)
		if r.advance() {
			heap.Fix(&open, 0)
		} else {
			heap.Pop(&open)
		}
	}
	_, _ = f.out.WriteString(tail)
	return s, f.out.Flush()
}

// first returns the moment from which the file counts: the first of all, but in the
// simulator the beginning of its time.
func first(parts []*timeline.Part) int64 {
	at := int64(math.MaxInt64)
	for _, p := range parts {
		if p.Clock == timeline.Simulated {
			return 0
		}
		for i := range p.Events {
			at = min(at, p.Events[i].Begin)
		}
	}
	if at == math.MaxInt64 {
		return 0
	}
	return at
}

// A file is the timeline of a job that is being written. A rank is a process, and its lanes are threads. out keeps the
// first error, and its Flush returns it.
type file struct {
	out     *bufio.Writer
	json    *json.Encoder // to out; it ends each event with a line
	written bool          // an event
	base    int64
	ranks   int
	named   map[int]bool // threads that have a name
}

// put writes an event that happened at a time.
func (f *file) put(at int64, e event) {
	if f.written {
		_ = f.out.WriteByte(',')
	}
	f.written = true
	e.Time = float64(at) / 1000
	_ = f.json.Encode(&e)
}

// process returns the number that stands for a rank: those of real processes are different only on one host. What
// tells about the file itself has the one after the last rank's.
func (f *file) process(rank int) int { return rank + 1 }

// thread returns the number of a lane. No other rank has it. That of a rank's first lane is the number of
// its process, so that the viewer shows it on top.
func (f *file) thread(rank, lane int) int {
	place := lane
	switch {
	case lane == packets:
		place = 1
	case lane > 0:
		place = lane + 1
	}
	return f.process(rank) + place*(f.ranks+1)
}

// call names a process, or a thread of it, and says at which place among the others the viewer shows it.
func (f *file) call(what string, process, thread int, name string, place int) {
	e := event{Phase: metadata, Process: process, Thread: thread, Name: what + "_name", Args: map[string]any{"name": name}}
	f.put(0, e)
	e.Name = what + "_sort_index"
	e.Args = map[string]any{"sort_index": place}
	f.put(0, e)
}

// note marks a moment on all tracks of a process.
func (f *file) note(process int, at int64, category, name string, args map[string]any) {
	f.put(at, event{
		Phase: moment, Scope: "p", Process: process, Thread: process, Category: category, Name: name, Args: args,
	})
}

// describe tells about the file itself: what is missing, and how the clocks were put on one.
func (f *file) describe(s Summary) {
	id := f.process(f.ranks)
	f.call("process", id, id, "this recording", f.ranks)
	note := func(name string, args map[string]any) { f.note(id, 0, "recording", name, args) }
	note("weft timeline", map[string]any{
		"ranks": f.ranks, "events": s.Events, "dropped": s.Dropped, "messages received before they were sent": s.Early,
	})
	for _, c := range s.Clocks {
		if len(s.Clocks) == 1 {
			break
		}
		note("clock of "+c.String(), map[string]any{
			"shift ns": c.Shift, "drift ns per s": int64(c.Drift * 1e9), "known to ns": c.Known,
		})
	}
	for _, rank := range s.Absent {
		note(fmt.Sprintf("rank %d has handed nothing over", rank), map[string]any{"rank": rank})
	}
}

// describeRank names a rank, and says what is missing of it.
func (f *file) describeRank(p *timeline.Part) {
	name := fmt.Sprintf("rank %d on %s", p.Rank, p.Host)
	if p.PID != 0 {
		name += fmt.Sprintf(" (%s, process %d)", p.Program, p.PID)
	}
	id := f.process(p.Rank)
	f.call("process", id, id, name, p.Rank)
	if p.Dropped == 0 && p.Lost == 0 {
		return
	}
	at := f.base
	if len(p.Events) > 0 {
		at = p.Events[0].Begin
	}
	f.note(id, at-f.base, "recording",
		fmt.Sprintf("%d earlier and %d later events of this rank are not here", p.Dropped, p.Lost),
		map[string]any{"dropped": p.Dropped, "lost": p.Lost})
}

// mark writes a rank's next mark. An operation that took no time begins and ends at once: a moment would stay open
// in the viewer until something else comes on its track, and arrows of others would lead to it.
func (f *file) mark(r *rank) {
	m := &r.now
	process := f.process(r.part.Rank)
	thread := f.thread(r.part.Rank, m.lane)
	at := m.at - f.base
	if m.event.Kind == timeline.Fault {
		f.fault(r.part, m.event, process, at)
		return
	}
	if !f.named[thread] {
		f.named[thread] = true
		f.callLane(process, thread, m.lane)
	}
	said := func(phase, scope string) event {
		e := event{Phase: phase, Scope: scope, Process: process, Thread: thread}
		e.Category, e.Name, e.Args = say(r.part, m.event)
		return e
	}
	arrow := func(phase, bound string) event {
		return event{Phase: phase, Bound: bound, Process: process, Thread: thread, Category: "message", Name: "message",
			ID: fmt.Sprintf("%#x", m.event.ID)}
	}
	if m.lane == packets {
		f.put(at, said(moment, "t"))
		return
	}
	if m.kind != end {
		f.put(at, said(begin, ""))
	}
	if m.sends() {
		f.put(at, arrow(messageStart, ""))
	}
	if m.arrives() {
		f.put(at, arrow(messageEnd, "e"))
	}
	if m.kind != begin {
		f.put(at, event{Phase: end, Process: process, Thread: thread})
	}
}

// fault marks a fault on all tracks of the rank to which it has happened.
func (f *file) fault(p *timeline.Part, e *timeline.Event, process int, at int64) {
	var args map[string]any
	if e.Size > 0 {
		args = map[string]any{"for ns": e.Size}
	}
	f.note(process, at, "fault", "fault: "+p.Names[e.ID], args)
}

// callLane names a lane: packets stand below the operations.
func (f *file) callLane(process, thread, lane int) {
	if lane == packets {
		f.call("thread", process, thread, "packets", 1)
		return
	}
	f.call("thread", process, thread, "operations", 0)
}

// say says what an event is.
func say(p *timeline.Part, e *timeline.Event) (category, name string, args *told) {
	category = "operation"
	name = e.Kind.String()
	args = &told{Packets: e.Count}
	if e.Peer != timeline.Nobody {
		args.Rank = &e.Peer
	}
	if e.Flags&timeline.Failed != 0 {
		args.Ended = "with an error"
	}
	switch {
	case e.Kind.Packets():
		category = "packet"
		args.Bytes = e.Size
		args.Again = e.ID
	case e.Kind == timeline.Sleep:
		category = "wait"
	case e.Kind.Coordinates():
		args.Phase = e.Size
		if of := p.Names[e.ID]; of != "" {
			name += " " + of
		}
	default:
		args.Bytes = e.Size
	}
	return category, name, args
}
