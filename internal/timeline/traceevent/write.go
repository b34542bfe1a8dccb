package traceevent

import (
	"bufio"
	"container/heap"
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
	f := file{
		writer: writer{out: bufio.NewWriterSize(w, 1<<16)}, base: first(present), ranks: len(parts), named: map[int]bool{},
	}
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

// A file is the timeline of a job that is being written. A rank is a process, and its lanes are threads.
type file struct {
	writer
	base  int64
	ranks int
	named map[int]bool // threads that have a name
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
	f.event(metadata, process, thread, 0)
	f.name(what + "_name")
	f.text("name", name)
	f.done()
	f.event(metadata, process, thread, 0)
	f.name(what + "_sort_index")
	f.number("sort_index", int64(place))
	f.done()
}

// describe tells about the file itself: what is missing, and how the clocks were put on one.
func (f *file) describe(s Summary) {
	id := f.process(f.ranks)
	f.call("process", id, id, "this recording", f.ranks)
	note := func(name string) {
		f.event(processWide, id, id, 0)
		f.category("recording")
		f.name(name)
	}
	note("weft timeline")
	f.number("ranks", int64(f.ranks))
	f.number("events", int64(s.Events))
	f.number("dropped", int64(s.Dropped))
	f.number("messages received before they were sent", int64(s.Early))
	f.done()
	for _, c := range s.Clocks {
		if len(s.Clocks) == 1 {
			break
		}
		note("clock of " + c.String())
		f.number("shift ns", c.Shift)
		f.number("drift ns per s", int64(c.Drift*1e9))
		f.number("known to ns", c.Known)
		f.done()
	}
	for _, rank := range s.Absent {
		note(fmt.Sprintf("rank %d has handed nothing over", rank))
		f.number("rank", int64(rank))
		f.done()
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
	f.event(processWide, id, id, at-f.base)
	f.category("recording")
	f.name(fmt.Sprintf("%d earlier and %d later events of this rank are not here", p.Dropped, p.Lost))
	f.number("dropped", int64(p.Dropped))
	f.number("lost", int64(p.Lost))
	f.done()
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
	switch {
	case m.lane == packets:
		f.event(trackMoment, process, thread, at)
		f.say(r.part, m.event)
		f.done()
		return
	case m.kind != end:
		f.event(begin, process, thread, at)
		f.say(r.part, m.event)
		f.done()
	}
	if m.sends() {
		f.event(messageStart, process, thread, at)
		f.message(m.event.ID)
		f.done()
	}
	if m.arrives() {
		f.event(messageEnd, process, thread, at)
		f.message(m.event.ID)
		f.done()
	}
	if m.kind != begin {
		f.event(end, process, thread, at)
		f.done()
	}
}

// fault marks a fault on all tracks of the rank to which it has happened.
func (f *file) fault(p *timeline.Part, e *timeline.Event, process int, at int64) {
	f.event(processWide, process, process, at)
	f.category("fault")
	f.name("fault: " + p.Names[e.ID])
	if e.Size > 0 {
		f.number("for ns", int64(e.Size))
	}
	f.done()
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
func (f *file) say(p *timeline.Part, e *timeline.Event) {
	category := "operation"
	name := e.Kind.String()
	switch {
	case e.Kind.Packets():
		category = "packet"
	case e.Kind == timeline.Sleep:
		category = "wait"
	case e.Kind.Coordinates():
		if of := p.Names[e.ID]; of != "" {
			name += " " + of
		}
	}
	f.category(category)
	f.name(name)
	if e.Peer != timeline.Nobody {
		f.number("rank", int64(e.Peer))
	}
	switch {
	case e.Kind.Coordinates():
		if e.Size != 0 {
			f.number("phase", int64(e.Size))
		}
	case e.Kind != timeline.Sleep:
		f.number("bytes", int64(e.Size))
	}
	if e.Count > 0 {
		f.number("packets", int64(e.Count))
	}
	if e.Kind.Packets() && e.ID > 0 {
		f.number("again", int64(e.ID))
	}
	if e.Flags&timeline.Failed != 0 {
		f.text("ended", "with an error")
	}
}
