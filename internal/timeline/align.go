package timeline

import (
	"math"
	"slices"
	"strings"
)

// Clocks of different hosts are put on one, that of rank 0's host, by what the recording
// itself says: a message is not received before it is sent, and no rank leaves a phase of a
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
			if e := &p.Events[i]; e.Kind.Sends() && e.Begin == e.End {
				sent[e.ID] = send{p.Clock, e}
			}
		}
	}
	for _, p := range parts {
		for i := range p.Events {
			e := &p.Events[i]
			if !e.Kind.Receives() {
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

// Early returns how many messages were received, by these clocks, before they were sent.
func Early(parts []*Part) (n int) {
	sent := map[uint64]int64{}
	for _, p := range parts {
		for i := range p.Events {
			if e := &p.Events[i]; e.Kind.Sends() && e.ID != 0 {
				sent[e.ID] = e.Begin
			}
		}
	}
	for _, p := range parts {
		for i := range p.Events {
			e := &p.Events[i]
			if at, ok := sent[e.ID]; ok && e.Kind.Receives() && e.End < at {
				n++
			}
		}
	}
	return n
}

// String says what a clock was found to be.
func (c Clock) String() string { return strings.Join(c.Hosts, ", ") + ": " + c.How }
