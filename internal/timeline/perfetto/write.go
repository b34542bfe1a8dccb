package perfetto

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"

	"weft/internal/timeline"
)

// A category is a group of events that the viewer can show or hide.
type category uint8

const (
	operation category = iota
	wait
	packet
	recording // about the file itself
)

var categories = []string{"operation", "wait", "packet", "recording"}

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
	}
	s.Clocks = timeline.Align(present)
	s.Early = timeline.Early(present)
	out := bufio.NewWriterSize(w, 1<<16)
	base := first(present)
	for _, p := range present {
		s.Events += len(p.Events)
		s.Dropped += p.Dropped
		s.Lost += p.Lost
		if err := newRank(out, p, base).write(); err != nil {
			return s, err
		}
	}
	if err := writeRecording(out, s, len(parts)); err != nil {
		return s, err
	}
	return s, out.Flush()
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

// Tracks are numbered by rank: its process, its packets, and its lanes.
const (
	tracksOfRank = 1 << 20
	packetTrack  = 1
	firstLane    = 2
)

// A rank writes what one rank did.
type rank struct {
	*sequence
	part *timeline.Part
	base int64
	root uint64 // the track of its process
}

func newRank(out *bufio.Writer, p *timeline.Part, base int64) *rank {
	return &rank{newSequence(out, uint64(p.Rank)+1), p, base, uint64(p.Rank+1) * tracksOfRank}
}

// A mark is where an event begins or ends on its track.
type mark struct {
	at    int64
	event int
	track uint64
	kind  uint64 // of TrackEvent
}

// write writes a rank: its process, a track for each lane of operations and one for packets, and the events in
// order of time.
func (r *rank) write() error {
	if err := r.describeProcess(); err != nil {
		return err
	}
	marks, lanes := r.marks()
	for lane := range lanes {
		if err := r.describeTrack(r.root+firstLane+uint64(lane), "operations"); err != nil {
			return err
		}
	}
	if slices.ContainsFunc(marks, func(m mark) bool { return m.track == r.root+packetTrack }) {
		if err := r.describeTrack(r.root+packetTrack, "packets"); err != nil {
			return err
		}
	}
	if err := r.writeDropped(); err != nil {
		return err
	}
	for _, m := range marks {
		if err := r.writeMark(m); err != nil {
			return err
		}
	}
	return nil
}

// describeProcess writes the track of the rank: the viewer shows it as a process. Numbers of
// real processes are different only on one host, so the rank's stands for it.
func (r *rank) describeProcess() error {
	name := fmt.Sprintf("rank %d on %s", r.part.Rank, r.part.Host)
	if r.part.PID != 0 {
		name += fmt.Sprintf(" (%s, process %d)", r.part.Program, r.part.PID)
	}
	var process, track message
	process.uint(processPID, uint64(r.part.Rank)+1)
	process.uint(processSortIndex, uint64(r.part.Rank))
	process.string(processName, name)
	track.uint(descriptorUUID, r.root)
	track.bytes(descriptorProcess, process)
	return r.describe(track)
}

// describeTrack names a track of this rank.
func (r *rank) describeTrack(id uint64, name string) error {
	var track message
	track.uint(descriptorUUID, id)
	track.uint(descriptorParent, r.root)
	track.string(descriptorName, name)
	return r.describe(track)
}

// writeDropped says on the track of the process what is missing.
func (r *rank) writeDropped() error {
	if r.part.Dropped == 0 && r.part.Lost == 0 {
		return nil
	}
	at := r.base
	if len(r.part.Events) > 0 {
		at = r.part.Events[0].Begin
	}
	r.start(instant, r.root)
	r.name(recording, fmt.Sprintf("%d earlier and %d later events of this rank are not here", r.part.Dropped, r.part.Lost))
	r.annotate("dropped", int64(r.part.Dropped))
	r.annotate("lost", int64(r.part.Lost))
	return r.finish(uint64(at - r.base))
}

// marks returns where the events begin and end, in the order of time, and on how many
// lanes. Events of one lane lie inside one another or do not overlap, as the viewer wants
// it: operations of several goroutines take several.
func (r *rank) marks() (marks []mark, lanes int) {
	var open [][]int64 // of each lane, the ends of the events that go on
	for i := range r.part.Events {
		e := &r.part.Events[i]
		if e.Kind.Packets() {
			marks = append(marks, mark{e.Begin, i, r.root + packetTrack, instant})
			continue
		}
		lane := laneFor(&open, e)
		track := r.root + firstLane + uint64(lane)
		if e.Begin == e.End {
			marks = append(marks, mark{e.Begin, i, track, instant})
			continue
		}
		open[lane] = append(open[lane], e.End)
		marks = append(marks, mark{e.Begin, i, track, sliceBegin}, mark{e.End, i, track, sliceEnd})
	}
	slices.SortStableFunc(marks, func(a, b mark) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(rankOf(a), rankOf(b)), r.inner(a, b))
	})
	return marks, len(open)
}

// rankOf orders marks of one moment: what ends makes room for what begins.
func rankOf(m mark) int {
	switch m.kind {
	case sliceEnd:
		return 0
	case sliceBegin:
		return 1
	default:
		return 2
	}
}

// inner orders ends of one moment: what began last ends first.
func (r *rank) inner(a, b mark) int {
	if a.kind != sliceEnd {
		return 0
	}
	return cmp.Compare(b.event, a.event)
}

// laneFor returns the first lane on which an event has room. Events come in the order of
// their beginnings, and of those that begin together the longest first.
func laneFor(open *[][]int64, e *timeline.Event) int {
	for lane := range *open {
		ends := (*open)[lane]
		for len(ends) > 0 && ends[len(ends)-1] <= e.Begin {
			ends = ends[:len(ends)-1]
		}
		(*open)[lane] = ends
		if len(ends) == 0 || e.End <= ends[len(ends)-1] {
			return lane
		}
	}
	*open = append(*open, nil)
	return len(*open) - 1
}

// writeMark writes the beginning or the end of an event, or an instant. A message's flow is an arrow from its
// sending to its reception.
func (r *rank) writeMark(m mark) error {
	e := &r.part.Events[m.event]
	r.start(m.kind, m.track)
	if m.kind != sliceEnd {
		r.describeEvent(e)
	}
	// A message comes with the end of what receives it: the arrow is to lead there.
	if e.Kind.Message() && e.ID != 0 && e.Flags&timeline.Failed == 0 &&
		(m.kind == instant || e.Kind.Sends() == (m.kind == sliceBegin)) {
		r.event.fixed(eventFlow, e.ID)
	}
	return r.finish(uint64(m.at - r.base))
}

// describeEvent writes what an event is.
func (r *rank) describeEvent(e *timeline.Event) {
	c := operation
	name := e.Kind.String()
	switch {
	case e.Kind.Packets():
		c = packet
	case e.Kind == timeline.Sleep:
		c = wait
	case e.Kind.Coordinates():
		if of := r.part.Names[e.ID]; of != "" {
			name += " " + of
		}
	}
	r.name(c, name)
	if e.Peer != timeline.Nobody {
		r.annotate("rank", int64(e.Peer))
	}
	switch {
	case e.Kind.Coordinates():
		if e.Size != 0 {
			r.annotate("phase", int64(e.Size))
		}
	case e.Kind != timeline.Sleep:
		r.annotate("bytes", int64(e.Size))
	}
	if e.Count > 0 {
		r.annotate("packets", int64(e.Count))
	}
	if e.Kind.Packets() && e.ID > 0 {
		r.annotate("again", int64(e.ID))
	}
	if e.Flags&timeline.Failed != 0 {
		r.say("ended", "with an error")
	}
}

// writeRecording writes a track of its own about the file: what is missing, and how the
// clocks were put on one.
func writeRecording(out *bufio.Writer, s Summary, ranks int) error {
	q := newSequence(out, uint64(ranks)+1)
	var process, track message
	process.uint(processPID, uint64(ranks)+1)
	process.uint(processSortIndex, uint64(ranks))
	process.string(processName, "this recording")
	track.uint(descriptorUUID, tracksOfRank/2)
	track.bytes(descriptorProcess, process)
	if err := q.describe(track); err != nil {
		return err
	}
	note := func(name string, annotate func()) error {
		q.start(instant, tracksOfRank/2)
		q.name(recording, name)
		annotate()
		return q.finish(0)
	}
	err := note("weft timeline", func() {
		q.annotate("ranks", int64(ranks))
		q.annotate("events", int64(s.Events))
		q.annotate("dropped", int64(s.Dropped))
		q.annotate("messages received before they were sent", int64(s.Early))
	})
	if err != nil {
		return err
	}
	for _, c := range s.Clocks {
		if len(s.Clocks) == 1 {
			break
		}
		err := note("clock of "+c.String(), func() {
			q.annotate("shift ns", c.Shift)
			q.annotate("drift ns per s", int64(c.Drift*1e9))
			q.annotate("known to ns", c.Known)
		})
		if err != nil {
			return err
		}
	}
	for _, rank := range s.Absent {
		if err := note(fmt.Sprintf("rank %d has handed nothing over", rank),
			func() { q.annotate("rank", int64(rank)) }); err != nil {
			return err
		}
	}
	return nil
}
