package timeline

import (
	"cmp"
	"math"
	"slices"
	"strings"
)

// Clocks of different hosts are put on one, that of rank 0's host, by what the recording
// itself says: a message is not received before it is sent, and nobody leaves a phase of a
// barrier before all have arrived. Each such fact bounds by how much two clocks differ;
// messages in both directions bound it on both sides, and the middle is taken. That is
// how the Network Time Protocol compares clocks, with the job's own messages. (D. Mills, Internet
// Time Synchronization: the Network Time Protocol, 1991.)

// A Clock tells how the clock of some ranks was put on that of rank 0.
type Clock struct {
	Ranks []int
	Hosts []string
	Shift int64   // ns added at the first of its events
	Drift float64 // ns added per ns after that
	Known int64   // the shift is known to ± this, in ns; -1: by the hosts' wall clocks only
	How   string
}

// Align puts the parts on one clock, and returns how. The first is that of rank 0.
func Align(parts []*Part) []Clock {
	ids := domains(parts)
	clocks := make([]Clock, len(ids))
	for i, id := range ids {
		clocks[i].How = "this is the clock of the file"
		for _, p := range parts {
			if p.Clock != id {
				continue
			}
			clocks[i].Ranks = append(clocks[i].Ranks, p.Rank)
			if !slices.Contains(clocks[i].Hosts, p.Host) {
				clocks[i].Hosts = append(clocks[i].Hosts, p.Host)
			}
		}
	}
	settle(parts)
	if len(ids) > 1 {
		place(parts, ids, clocks, facts(parts, ids))
	}
	return clocks
}

// settle moves sends in shared memory before their receives. Such a send is noted when its
// packet has been handed over, so that the receiver does not wait for that, and can be faster.
func settle(parts []*Part) {
	type send struct {
		clock string
		e     *Event
	}
	sent := map[uint64]send{}
	for _, p := range parts {
		for i := range p.Events {
			if e := &p.Events[i]; e.Kind == Send && e.Begin == e.End {
				sent[e.ID] = send{p.Clock, e}
			}
		}
	}
	for _, p := range parts {
		for i := range p.Events {
			e := &p.Events[i]
			if e.Kind != Receive && e.Kind != Fetch {
				continue
			}
			if s, ok := sent[e.ID]; ok && s.clock == p.Clock && s.e.Begin >= e.End {
				s.e.Begin = e.End - 1
				s.e.End = e.End - 1
			}
		}
	}
}

// domains returns the clocks of the parts, that of the lowest rank first.
func domains(parts []*Part) (ids []string) {
	for _, p := range parts {
		if !slices.Contains(ids, p.Clock) {
			ids = append(ids, p.Clock)
		}
	}
	return ids
}

// A fact says that a moment of one clock came before a moment of another.
type fact struct{ earlier, later int64 }

// A pair is two clocks, by number.
type pair struct{ earlier, later int }

// facts returns what the parts say about pairs of clocks.
func facts(parts []*Part, ids []string) map[pair][]fact {
	found := map[pair][]fact{}
	note := func(a, b int, f fact) {
		if a != b {
			found[pair{a, b}] = append(found[pair{a, b}], f)
		}
	}
	type moment struct {
		clock int
		at    int64
	}
	sent := map[uint64]moment{}
	each(parts, ids, func(clock int, e *Event) {
		if e.Kind == Send && e.ID != 0 {
			sent[e.ID] = moment{clock, e.Begin}
		}
	})
	type phase struct{ id, number uint64 }
	type visit struct {
		clock          int
		arrived, ended int64
	}
	visits := map[phase][]visit{}
	each(parts, ids, func(clock int, e *Event) {
		switch {
		case e.Flags&Failed != 0:
		case e.Kind == Receive || e.Kind == Fetch:
			if s, ok := sent[e.ID]; ok {
				note(s.clock, clock, fact{s.at, e.End})
			}
		case e.Kind == Pass && e.Size != 0:
			at := phase{e.ID, e.Size}
			visits[at] = append(visits[at], visit{clock, e.Begin, e.End})
		}
	})
	for _, at := range slices.SortedFunc(keys(visits), func(a, b phase) int {
		return cmp.Or(cmp.Compare(a.id, b.id), cmp.Compare(a.number, b.number))
	}) {
		met := visits[at]
		const most = 64 // of a barrier of very many ranks these say enough
		for _, a := range met[:min(len(met), most)] {
			for _, b := range met[:min(len(met), most)] {
				note(a.clock, b.clock, fact{a.arrived, b.ended})
			}
		}
	}
	return found
}

func keys[K comparable, V any](m map[K]V) func(yield func(K) bool) {
	return func(yield func(K) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

func each(parts []*Part, ids []string, f func(clock int, e *Event)) {
	for _, p := range parts {
		clock := slices.Index(ids, p.Clock)
		for i := range p.Events {
			f(clock, &p.Events[i])
		}
	}
}

// place shifts the clocks one after the other: next is always the one whose difference to
// one that has its place is known best.
func place(parts []*Part, ids []string, clocks []Clock, found map[pair][]fact) {
	placed := make([]bool, len(ids))
	placed[0] = true
	for range len(ids) - 1 {
		var best line
		at := -1
		for i := range ids {
			if placed[i] {
				continue
			}
			for j := range ids {
				if !placed[j] {
					continue
				}
				if l := fit(found[pair{j, i}], found[pair{i, j}]); at < 0 || l.better(best) {
					best = l
					at = i
				}
			}
		}
		if best.quality == unknown {
			best = wall(parts, ids, at)
		}
		placed[at] = true
		begun := first(parts, ids[at])
		clocks[at].Shift = best.apply(begun) - begun
		clocks[at].Drift = best.drift
		clocks[at].Known = best.known
		clocks[at].How = best.how()
		shift(parts, ids, at, best, found)
	}
}

// first returns the first moment of a clock.
func first(parts []*Part, id string) int64 {
	at := int64(math.MaxInt64)
	for _, p := range parts {
		if p.Clock == id && len(p.Events) > 0 {
			at = min(at, p.Events[0].Begin)
		}
	}
	if at == math.MaxInt64 {
		return 0
	}
	return at
}

// shift puts the events of a clock, and the facts about it, on the clock of rank 0.
func shift(parts []*Part, ids []string, at int, l line, found map[pair][]fact) {
	for _, p := range parts {
		if p.Clock != ids[at] {
			continue
		}
		for i := range p.Events {
			e := &p.Events[i]
			e.Begin = l.apply(e.Begin)
			e.End = l.apply(e.End)
		}
	}
	for k, fs := range found {
		for i := range fs {
			if k.earlier == at {
				fs[i].earlier = l.apply(fs[i].earlier)
			}
			if k.later == at {
				fs[i].later = l.apply(fs[i].later)
			}
		}
	}
}

// A line turns the time of one clock into that of another.
type line struct {
	at      int64   // a moment of the clock
	offset  int64   // what is added then
	drift   float64 // what is added per ns after it
	known   int64   // the offset is known to ± this
	quality quality
}

// quality says what is known of a difference.
type quality uint8

const (
	unknown quality = iota // nothing: the wall clocks must do
	oneSide                // messages in one direction only
	bothSides
)

func (l line) better(o line) bool {
	if l.quality != o.quality {
		return l.quality > o.quality
	}
	return l.quality == bothSides && l.known < o.known
}

func (l line) apply(t int64) int64 {
	return t + l.offset + int64(math.Round(float64(t-l.at)*l.drift))
}

func (l line) how() string {
	switch l.quality {
	case bothSides:
		return "by messages and barriers in both directions"
	case oneSide:
		return "by messages in one direction: none arrives before it is sent"
	default:
		return "by the wall clocks of the hosts"
	}
}

// wall compares the wall clocks of two hosts.
func wall(parts []*Part, ids []string, at int) line {
	l := line{known: -1}
	for _, p := range parts {
		if p.Clock == ids[at] {
			l.offset = p.Wall - parts[0].Wall
		}
	}
	return l
}

// windows is into how many stretches the time is cut, to see how clocks drift.
const windows = 16

// leastDrift is over how long clocks must have been compared for their drift to be seen.
const leastDrift = 2e9

// fit returns the line that puts the second of two clocks on the first. Out are facts that
// the first was earlier, and in that the second was.
func fit(out, in []fact) line {
	if len(out) == 0 && len(in) == 0 {
		return line{}
	}
	from := int64(math.MaxInt64)
	to := int64(math.MinInt64) // by the second clock
	for _, f := range out {
		from = min(from, f.later)
		to = max(to, f.later)
	}
	for _, f := range in {
		from = min(from, f.earlier)
		to = max(to, f.earlier)
	}
	n := 1
	if to-from >= leastDrift {
		n = windows
	}
	spans := make([]span, n)
	for i := range spans {
		spans[i] = span{least: math.MinInt64, most: math.MaxInt64}
	}
	where := func(t int64) *span { return &spans[min(int(float64(t-from)/float64(to-from+1)*float64(n)), n-1)] }
	for _, f := range out {
		where(f.later).above(f.earlier-f.later, f.later)
	}
	for _, f := range in {
		where(f.earlier).below(f.later-f.earlier, f.earlier)
	}
	return through(spans)
}

// A span is what is known of the difference of two clocks in a stretch of time.
type span struct {
	least, most     int64
	atLeast, atMost int64 // when
}

func (s *span) above(d, at int64) {
	if d > s.least {
		s.least = d
		s.atLeast = at
	}
}

func (s *span) below(d, at int64) {
	if d < s.most {
		s.most = d
		s.atMost = at
	}
}

func (s *span) both() bool { return s.least != math.MinInt64 && s.most != math.MaxInt64 }

func (s *span) width() int64 { return max(s.most-s.least, 1) }

func (s *span) middle() (at, d int64) {
	return s.atLeast + (s.atMost-s.atLeast)/2, s.least + (s.most-s.least)/2
}

// through returns the line through the middles of spans, by least squares: the narrower a
// span is the more it counts.
func through(spans []span) line {
	var known []span
	for _, s := range spans {
		if s.both() {
			known = append(known, s)
		}
	}
	if len(known) == 0 {
		return edge(spans)
	}
	narrow := slices.MinFunc(known, func(a, b span) int { return cmp.Compare(a.width(), b.width()) })
	at, offset := narrow.middle()
	l := line{at: at, offset: offset, known: (narrow.width() + 1) / 2, quality: bothSides}
	var sum, sumX, sumY, sumXX, sumXY float64
	for _, s := range known {
		t, d := s.middle()
		w := 1 / float64(s.width())
		x := float64(t - at)
		y := float64(d - offset)
		sum = sum + w
		sumX = sumX + w*x
		sumY = sumY + w*y
		sumXX = sumXX + w*x*x
		sumXY = sumXY + w*x*y
	}
	if even := sum*sumXX - sumX*sumX; len(known) > 2 && even > 0 {
		l.drift = (sum*sumXY - sumX*sumY) / even
		l.offset += int64(math.Round((sumY - l.drift*sumX) / sum))
	}
	return l
}

// edge returns the line where there are messages in one direction only, or never in both
// at about the same time: the difference is the least, or the most, that it can be.
func edge(spans []span) line {
	all := span{least: math.MinInt64, most: math.MaxInt64}
	for _, s := range spans {
		if s.least != math.MinInt64 {
			all.above(s.least, s.atLeast)
		}
		if s.most != math.MaxInt64 {
			all.below(s.most, s.atMost)
		}
	}
	switch {
	case all.both():
		at, d := all.middle()
		return line{at: at, offset: d, known: all.width(), quality: bothSides}
	case all.least != math.MinInt64:
		return line{at: all.atLeast, offset: all.least, known: -1, quality: oneSide}
	default:
		return line{at: all.atMost, offset: all.most, known: -1, quality: oneSide}
	}
}

// Early returns how many messages were received, by these clocks, before they were sent.
func Early(parts []*Part) (n int) {
	sent := map[uint64]int64{}
	for _, p := range parts {
		for i := range p.Events {
			if e := &p.Events[i]; e.Kind == Send && e.ID != 0 {
				sent[e.ID] = e.Begin
			}
		}
	}
	for _, p := range parts {
		for i := range p.Events {
			e := &p.Events[i]
			if at, ok := sent[e.ID]; ok && (e.Kind == Receive || e.Kind == Fetch) && e.End < at {
				n++
			}
		}
	}
	return n
}

// String says what a clock was found to be.
func (c Clock) String() string { return strings.Join(c.Hosts, ", ") + ": " + c.How }
