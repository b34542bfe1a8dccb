package traceevent

import (
	"cmp"
	"math"

	"weft/internal/timeline"
)

// A rank turns what one rank did into marks, in the order of time. It makes them one by one, and
// holds what is open: operations of several goroutines take several lanes, since events of one
// lane must lie inside one another, or not overlap.
type rank struct {
	part  *timeline.Part
	begun int     // events that have begun
	lanes [][]int // the events that are open, by lane: the last ends first
	now   mark    // comes next
}

// A mark is the place on a lane where an event begins or ends.
type mark struct {
	at    int64
	event *timeline.Event
	kind  string // begin, end, or a moment: the beginning and the end in one
	lane  int
}

// packets is the lane of packets. Each of them is a moment.
const packets = -1

// advance makes the next mark, and reports whether there is one. Of one moment, what ends makes room for what begins.
func (r *rank) advance() bool {
	events := r.part.Events
	next := int64(math.MaxInt64)
	if r.begun < len(events) {
		next = events[r.begun].Begin
	}
	if lane, at := r.firstEnd(); lane >= 0 && at <= next {
		open := r.lanes[lane]
		last := len(open) - 1
		r.now = mark{at, &events[open[last]], end, lane}
		r.lanes[lane] = open[:last]
		return true
	}
	if r.begun == len(events) {
		return false
	}
	e := &events[r.begun]
	r.begun++
	r.now = mark{next, e, moment, packets}
	if !e.Kind.Packets() && e.Kind != timeline.Fault {
		r.now.lane = r.laneFor(e.End)
	}
	if e.Begin != e.End {
		r.now.kind = begin
		r.lanes[r.now.lane] = append(r.lanes[r.now.lane], r.begun-1)
	}
	return true
}

// firstEnd returns the lane on which an event ends next, and when. Without one the lane is -1.
func (r *rank) firstEnd() (lane int, at int64) {
	lane = -1
	for i, open := range r.lanes {
		if len(open) == 0 {
			continue
		}
		if e := r.part.Events[open[len(open)-1]].End; lane < 0 || e < at {
			lane = i
			at = e
		}
	}
	return lane, at
}

// laneFor returns the first lane that has room for an event that ends then. Events come in the
// order of their beginnings, and of those that begin together the longest first.
func (r *rank) laneFor(ends int64) int {
	for lane, open := range r.lanes {
		if len(open) == 0 || ends <= r.part.Events[open[len(open)-1]].End {
			return lane
		}
	}
	r.lanes = append(r.lanes, nil)
	return len(r.lanes) - 1
}

// sends reports whether an arrow begins at the mark.
func (m *mark) sends() bool { return m.arrow() && m.event.Kind.Sends() && m.kind != end }

// arrives reports whether an arrow ends at the mark: a message comes with the end of what
// receives it.
func (m *mark) arrives() bool { return m.arrow() && m.event.Kind.Receives() && m.kind != begin }

// arrow reports whether the mark's event is an end of an arrow.
func (m *mark) arrow() bool { return m.event.ID != 0 && m.event.Flags&timeline.Failed == 0 }

// ranks are those with a mark to come, as a heap (container/heap): the first comes first in the file.
// Of one moment, arrows end after others have begun: the viewer draws none that ends first.
type ranks []*rank

func (s ranks) Len() int { return len(s) }

func (s ranks) Less(i, j int) bool {
	a := &s[i].now
	b := &s[j].now
	if a.at != b.at {
		return a.at < b.at
	}
	if a.arrives() != b.arrives() {
		return b.arrives()
	}
	return cmp.Less(s[i].part.Rank, s[j].part.Rank)
}

func (s ranks) Swap(i, j int) { s[i], s[j] = s[j], s[i] }

// Push is not called: no rank is added once the first mark has been taken.
func (s *ranks) Push(any) {}

func (s *ranks) Pop() any {
	*s = (*s)[:len(*s)-1]
	return nil
}
