package bootstrap

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"sync"
	"time"
)

// A Server is the launcher's side: it serves the ranks that it started.
type Server struct {
	jobs []Job

	mu     sync.Mutex
	ranks  []*served
	values map[string]string
	gets   map[string][]answer // waiting for a value
	fences []answer            // of ranks that wait
	downs  []line
	told   []line // what has been put, where everybody is told
	tells  bool   // everybody is told
	left   []line // "return" of ranks whose programs have returned
	asked  uint64
	states map[uint64]chan string // questions that are not answered
	nag    *time.Timer            // tells ranks in a fence who is missing; may be nil
	room   int                    // for bytes that ranks record
}

// A served is one rank as the server sees it.
type served struct {
	c      *conn
	mu     sync.Mutex // held while writing
	asking sync.Mutex // of asked
	keys   int
	fences int
	asked  []line        // questions that have not been sent, of which the first is being sent
	leaves bool          // it has left in good order
	failed string        // why its program has failed, as it has said
	record []byte        // what it has recorded
	full   bool          // there was no room for more of that
	over   chan struct{} // closed when nothing more comes from it
}

// An answer is owed to a rank.
type answer struct {
	rank int
	seq  uint64
}

// NewServer returns the server of a job, whose ranks are described by jobs.
func NewServer(jobs []Job) *Server {
	s := &Server{jobs: jobs, ranks: make([]*served, len(jobs)), values: map[string]string{}, gets: map[string][]answer{},
		states: map[uint64]chan string{}}
	return s
}

// Job returns what a rank is told.
func (s *Server) Job(rank int) Job { return s.jobs[rank] }

// Serve talks to a rank until its connection ends. It owns c.
func (s *Server) Serve(rank int, c io.ReadWriteCloser) error {
	return s.serve(rank, newServed(c), nil)
}

func newServed(c io.ReadWriteCloser) *served {
	return &served{c: newConn(c), over: make(chan struct{})}
}

// serve is Serve. Nothing is read from the rank before ready is closed; nil is ready.
func (s *Server) serve(rank int, r *served, ready <-chan struct{}) error {
	defer r.c.Close()
	defer close(r.over)
	r.mu.Lock()
	err := r.c.write(s.jobs[rank].line())
	r.mu.Unlock()
	if err != nil {
		return nil // it has ended, or is no program of weft's: its process tells better
	}
	for _, l := range s.register(rank, r) {
		r.send(l)
	}
	if ready != nil {
		<-ready
	}
	for {
		l, err := r.c.read()
		if err != nil && !errors.Is(err, ErrProtocol) {
			return nil // the rank has ended, which its process tells better
		}
		if err == nil {
			err = s.handle(rank, r, l)
		}
		if err != nil {
			return fmt.Errorf("rank %d: %w", rank, err)
		}
	}
}

// register makes a rank one that hears the news, and returns what has happened so far.
func (s *Server) register(rank int, r *served) []line {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ranks[rank] = r
	news := append([]line(nil), s.downs...)
	for _, l := range s.left {
		if !slices.Contains(l.Told, rank) { // else the other rank tells this one when its messages have been accepted
			news = append(news, line{Op: "returned", Rank: l.Rank})
		}
	}
	return append(news, s.told...)
}

func (r *served) send(l line) {
	r.mu.Lock()
	defer r.mu.Unlock()
	_ = r.c.write(l) // a rank that is gone is noticed by whoever waits for its process
}

// ask sends a question, after those that have not been sent yet.
func (r *served) ask(l line) {
	r.asking.Lock()
	defer r.asking.Unlock()
	if len(r.asked) == mostAsked {
		return // it does not read, and will not answer
	}
	r.asked = append(r.asked, l)
	if len(r.asked) > 1 {
		return // whoever sends the first goes on with it
	}
	for len(r.asked) > 0 {
		l = r.asked[0]
		r.asking.Unlock()
		r.send(l)
		r.asking.Lock()
		r.asked = r.asked[1:]
	}
}

// mostAsked bounds the questions that wait until a rank reads.
const mostAsked = 8

func (s *Server) handle(rank int, r *served, l line) error {
	s.mu.Lock()
	var replies []answer
	reply := line{Op: "value"}
	switch l.Op {
	case "put":
		if r.keys++; r.keys > maxKeys {
			s.mu.Unlock()
			return fmt.Errorf("%w: more than %d keys", ErrProtocol, maxKeys)
		}
		key := name(rank, l.Key)
		s.values[key] = l.Value
		reply.Value = l.Value
		replies = s.gets[key]
		delete(s.gets, key)
		if s.tells {
			told := line{Op: "told", Rank: rank, Key: l.Key, Value: l.Value}
			s.told = append(s.told, told)
			defer tell(s.others(rank, nil), told)
		}
	case "get":
		key := name(l.Rank, l.Key)
		if v, ok := s.values[key]; ok {
			reply.Value = v
			replies = []answer{{rank, l.Seq}}
		} else if l.Rank < 0 || l.Rank >= len(s.jobs) || len(s.gets[key]) > 4*len(s.jobs) {
			s.mu.Unlock()
			return fmt.Errorf("%w: get of rank %d", ErrProtocol, l.Rank)
		} else {
			s.gets[key] = append(s.gets[key], answer{rank, l.Seq})
		}
	case "fence":
		r.fences++
		s.fences = append(s.fences, answer{rank, l.Seq})
		reply.Op = "fenced"
		replies = s.open()
		if len(s.fences) > 0 && s.nag == nil {
			s.nag = time.AfterFunc(patience, s.tellMissing)
		}
	case "return":
		s.left = append(s.left, line{Rank: rank, Told: l.Told})
		others := s.others(rank, l.Told)
		s.mu.Unlock()
		tell(others, line{Op: "returned", Rank: rank})
		return nil
	case "record":
		if r.full = r.full || s.room < len(l.Bytes); !r.full {
			s.room -= len(l.Bytes)
			r.record = append(r.record, l.Bytes...)
		}
	case "leave":
		r.leaves = true
	case "fail":
		r.failed = cmp.Or(l.Value, "it failed")
	case "stated":
		if c := s.states[l.Seq]; c != nil {
			delete(s.states, l.Seq)
			c <- l.Value
		}
	default:
		s.mu.Unlock()
		return fmt.Errorf("%w: %q", ErrProtocol, l.Op)
	}
	s.mu.Unlock()
	s.answer(replies, reply)
	return nil
}

// others returns the ranks that hear the news of a rank, but for those told. The lock is held: a rank that registers
// afterwards finds the news there.
func (s *Server) others(rank int, told []int) (others []*served) {
	for i, r := range s.ranks {
		if r != nil && i != rank && !slices.Contains(told, i) {
			others = append(others, r)
		}
	}
	return others
}

func tell(ranks []*served, l line) {
	for _, r := range ranks {
		r.send(l)
	}
}

// patience is after how much time a rank that waits is told for whom.
const patience = 10 * time.Second

// tellMissing tells each rank that waits in a fence which ranks have not come to it.
func (s *Server) tellMissing() {
	s.mu.Lock()
	s.nag = nil
	waiting := slices.Clone(s.fences)
	var come []int // fences of each rank
	for i, r := range s.ranks {
		switch {
		case s.ended(i):
			come = append(come, math.MaxInt)
		case r == nil:
			come = append(come, 0)
		default:
			come = append(come, r.fences)
		}
	}
	s.mu.Unlock()
	for _, a := range waiting {
		var missing []int
		for i, n := range come {
			if n < come[a.rank] {
				missing = append(missing, i)
			}
		}
		s.answer([]answer{a}, line{Op: "missing", Told: missing})
	}
}

// open returns the fences that may end: every rank that has not ended has
// called as often as the one that waits. The lock is held.
func (s *Server) open() (free []answer) {
	least := -1
	for i, r := range s.ranks {
		switch {
		case s.ended(i):
		case r == nil:
			return nil
		case least < 0 || r.fences < least:
			least = r.fences
		}
	}
	keep := s.fences[:0]
	for _, a := range s.fences {
		if s.ranks[a.rank].fences <= least {
			free = append(free, a)
		} else {
			keep = append(keep, a)
		}
	}
	s.fences = keep
	return free
}

func (s *Server) ended(rank int) bool {
	for _, l := range s.downs {
		if l.Rank == rank {
			return true
		}
	}
	return false
}

func (s *Server) answer(to []answer, l line) {
	for _, a := range to {
		s.mu.Lock()
		r := s.ranks[a.rank]
		s.mu.Unlock()
		l.Seq = a.seq
		r.send(l)
	}
}

// State asks every rank what it waits for, and returns the answers: "" of those
// that have ended, or do not answer until ctx ends.
func (s *Server) State(ctx context.Context) []string {
	type question struct {
		rank int
		seq  uint64
		c    chan string
	}
	var open []question
	s.mu.Lock()
	ranks := append([]*served(nil), s.ranks...)
	for i, r := range ranks {
		if r == nil || s.ended(i) {
			continue
		}
		s.asked++
		c := make(chan string, 1)
		s.states[s.asked] = c
		open = append(open, question{i, s.asked, c})
		go r.ask(line{Op: "state", Seq: s.asked}) // it may be stopped, and its socket full
	}
	s.mu.Unlock()
	answers := make([]string, len(ranks))
	for _, q := range open {
		select {
		case answers[q.rank] = <-q.c:
		case <-ctx.Done(): // but those after this one may have answered
			select {
			case answers[q.rank] = <-q.c:
			default:
			}
		}
		s.mu.Lock()
		delete(s.states, q.seq)
		s.mu.Unlock()
	}
	return answers
}

// Ended returns why a rank has ended, or "".
func (s *Server) Ended(rank int) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, l := range s.downs {
		if l.Rank == rank {
			return l.Value
		}
	}
	return ""
}

// farewell is how long after the end of a process what it has said last may take to be
// read: a child of it may hold the connection open.
const farewell = time.Second

// Down tells all ranks that one has ended, and why. Fences no longer wait for
// it.
func (s *Server) Down(rank int, cause string) {
	if cause == ErrExited.Error() && !s.hasLeft(rank) {
		cause = errUnsaid.Error()
	}
	s.mu.Lock()
	l := line{Op: "down", Rank: rank, Value: cause}
	s.downs = append(s.downs, l)
	free := s.open()
	others := s.others(rank, nil)
	s.mu.Unlock()
	tell(others, l)
	s.answer(free, line{Op: "fenced"})
}

// Collect makes the server keep what ranks record, up to so many bytes in all. It must be
// called before Serve.
func (s *Server) Collect(most int) { s.room = most }

// Recorded returns what a rank has recorded, and handed over before it ended.
func (s *Server) Recorded(rank int) []byte {
	s.mu.Lock()
	r := s.ranks[rank]
	s.mu.Unlock()
	if r == nil {
		return nil
	}
	select {
	case <-r.over:
	case <-time.After(farewell):
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return r.record
}

// hasLeft reports whether a rank whose process has ended had left in good order.
func (s *Server) hasLeft(rank int) bool {
	s.mu.Lock()
	r := s.ranks[rank]
	s.mu.Unlock()
	if r == nil {
		return false
	}
	select {
	case <-r.over:
	case <-time.After(farewell):
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return r.leaves
}
