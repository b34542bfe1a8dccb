package matching

import (
	"fmt"
	"math/rand/v2"
	"sort"
)

// A script is what one rank of a program does.
type script []step

// A step is one call of a rank's program, or work between calls.
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

// A channel is what messages of one tag from one rank to another go through, in order.
type channel struct {
	from, to int
	tag      uint64
}

// A timed event is one that happened to the queues of a rank at a moment.
type timed struct {
	at float64
	event
}

// A rank runs its script in virtual time.
type rank struct {
	id     int
	script script
	clock  float64
	waits  []channel       // receives that have been posted, and not waited for
	waited map[channel]int // receives that have been waited for
	events []timed
}

// A world is the ranks of a program and the messages between them.
type world struct {
	rnd   *rand.Rand
	ranks []rank
	sent  map[channel][]float64 // when each message arrives
	last  map[[2]int]float64    // when the last message between two ranks arrives
}

// run lets the ranks of a program run in virtual time, and returns what happened
// to the queues of each. Sends do not wait for their receivers. As receives name
// their source, the nth of a source and tag gets the nth message of these, so that
// ranks can be run one after the other, each until it waits for what has not been
// sent.
func run(scripts []script, seed uint64) ([]trace, error) {
	w := world{
		rnd: rand.New(rand.NewPCG(seed, 64)), ranks: make([]rank, len(scripts)),
		sent: map[channel][]float64{}, last: map[[2]int]float64{},
	}
	for i, s := range scripts {
		w.ranks[i] = rank{id: i, script: s, waited: map[channel]int{}}
	}
	for moved := true; moved; {
		moved = false
		for i := range w.ranks {
			r := &w.ranks[i]
			for len(r.script) > 0 && w.step(r, r.script[0]) {
				moved = true
				r.script = r.script[1:]
			}
		}
	}
	left := 0
	traces := make([]trace, len(w.ranks))
	for i := range w.ranks {
		r := &w.ranks[i]
		if len(r.script) > 0 {
			left++
		}
		traces[i] = r.trace()
	}
	if left > 0 {
		return nil, fmt.Errorf("matching: %d of %d ranks wait for ever", left, len(w.ranks))
	}
	return traces, nil
}

// step does the next step of a rank, and reports whether it is done: a wait may need a message
// that has not been sent.
func (w *world) step(r *rank, s step) (done bool) {
	switch s.kind {
	case work:
		t := s.mean * (0.75 + 0.5*w.rnd.Float64())
		if w.rnd.Float64() < noise {
			t *= delay
		}
		r.clock += t
	case post:
		r.clock += overhead
		r.events = append(r.events, timed{r.clock, event{true, s.peer, s.tag, ^uint64(0)}})
		r.waits = append(r.waits, channel{s.peer, r.id, s.tag})
	case send:
		r.clock += overhead
		w.send(r, s.peer, s.tag)
	case wait:
		for len(r.waits) > 0 {
			c := r.waits[0]
			n := r.waited[c]
			if n >= len(w.sent[c]) {
				return false
			}
			r.waited[c] = n + 1
			r.clock = max(r.clock, w.sent[c][n])
			r.waits = r.waits[1:]
		}
	}
	return true
}

// send sends a message, which arrives after the earlier messages of the rank to this peer.
func (w *world) send(r *rank, peer int, tag uint64) {
	pair := [2]int{r.id, peer}
	at := max(w.last[pair], r.clock+latency*(0.5+w.rnd.ExpFloat64()))
	w.last[pair] = at
	c := channel{r.id, peer, tag}
	w.sent[c] = append(w.sent[c], at)
	to := &w.ranks[peer]
	to.events = append(to.events, timed{at, event{source: r.id, tag: tag}})
}

// trace returns what happened to the queues of a rank, in the order in which it happened.
func (r *rank) trace() (t trace) {
	sort.SliceStable(r.events, func(a, b int) bool { return r.events[a].at < r.events[b].at })
	for _, e := range r.events {
		t = append(t, e.event)
	}
	return t
}
