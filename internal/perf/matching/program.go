package matching

import (
	"fmt"
	"math/rand/v2"
	"sort"
)

// A script is what one rank of a program does.
type script []step

type step struct {
	kind verb
	peer int
	tag  uint64
	mean float64 // microseconds of work
}

type verb int

const (
	post verb = iota // a receive
	send
	wait // for all receives posted so far
	work
)

func (s *script) post(from int, tag uint64) { *s = append(*s, step{kind: post, peer: from, tag: tag}) }
func (s *script) send(to int, tag uint64)   { *s = append(*s, step{kind: send, peer: to, tag: tag}) }
func (s *script) wait()                     { *s = append(*s, step{kind: wait}) }
func (s *script) work(mean float64)         { *s = append(*s, step{kind: work, mean: mean}) }

// exchange sends to a rank and receives from it, with one tag.
func (s *script) exchange(peer int, tag uint64) {
	s.post(peer, tag)
	s.send(peer, tag)
	s.wait()
}

// Times of the network and of the machines, in microseconds. What counts is that
// ranks run ahead of each other, as they do on machines that do other things too.
const (
	latency  = 5.0
	overhead = 0.5  // of a call
	noise    = 0.01 // how often work is disturbed, and takes
	delay    = 20   // times as long
)

// run lets the ranks of a program run in virtual time, and returns what happened
// to the queues of each. Sends do not wait for their receivers. As receives name
// their source, the nth of a source and tag gets the nth message of these, so that
// ranks can be run one after the other, each until it waits for what has not been
// sent.
func run(scripts []script, seed uint64) ([]trace, error) {
	type key struct {
		from, to int
		tag      uint64
	}
	type timed struct {
		at float64
		event
	}
	type rank struct {
		clock  float64
		next   int
		waits  []key
		posted map[key]int // receives that have been waited for
		events []timed
	}
	rnd := rand.New(rand.NewPCG(seed, 64))
	sent := map[key][]float64{} // when each message arrives
	last := map[[2]int]float64{}
	ranks := make([]rank, len(scripts))
	for i := range ranks {
		ranks[i].posted = map[key]int{}
	}
	left := len(ranks)
	for moved := true; moved; {
		moved = false
		for me := range ranks {
			r := &ranks[me]
		steps:
			for r.next < len(scripts[me]) {
				s := scripts[me][r.next]
				switch s.kind {
				case work:
					t := s.mean * (0.75 + 0.5*rnd.Float64())
					if rnd.Float64() < noise {
						t *= delay
					}
					r.clock += t
				case post:
					r.clock += overhead
					r.events = append(r.events, timed{r.clock, event{true, s.peer, s.tag, ^uint64(0)}})
					r.waits = append(r.waits, key{s.peer, me, s.tag})
				case send:
					r.clock += overhead
					k := key{me, s.peer, s.tag}
					pair := [2]int{me, s.peer}
					at := max(last[pair], r.clock+latency*(0.5+rnd.ExpFloat64()))
					last[pair] = at
					sent[k] = append(sent[k], at)
					to := &ranks[s.peer]
					to.events = append(to.events, timed{at, event{source: me, tag: s.tag}})
				case wait:
					for len(r.waits) > 0 {
						k := r.waits[0]
						n := r.posted[k]
						if n >= len(sent[k]) {
							break steps
						}
						r.posted[k] = n + 1
						r.clock = max(r.clock, sent[k][n])
						r.waits = r.waits[1:]
					}
				}
				moved = true
				if r.next++; r.next == len(scripts[me]) {
					left--
				}
			}
		}
	}
	if left > 0 {
		return nil, fmt.Errorf("matching: %d of %d ranks wait for ever", left, len(ranks))
	}
	traces := make([]trace, len(ranks))
	for i := range ranks {
		e := ranks[i].events
		sort.SliceStable(e, func(a, b int) bool { return e[a].at < e[b].at })
		for _, ev := range e {
			traces[i] = append(traces[i], ev.event)
		}
	}
	return traces, nil
}
