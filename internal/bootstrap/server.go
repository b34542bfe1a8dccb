package bootstrap

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"sync"
	"time"
)

// A Server is the launcher's side of the protocol: it exchanges values between the ranks of a job, lets them wait for
// each other, and tells them which ranks have ended. Its methods may be called from many goroutines.
type Server struct {
	jobs []Job

	mu     sync.Mutex
	ranks  []*served
	values map[string]string
	gets   map[string][]answer    // gets of a key that has no value yet
	fences []answer               // fences of ranks that wait in one
	passed int                    // fences that all ranks have called
	ahead  int                    // ranks that have ended, or have called the next fence
	ended  []string               // by rank: why it has ended; "" if it has not
	downs  []line                 // "down" lines of ranks that have ended
	tells  bool                   // every put is told to all ranks
	told   []line                 // the puts that have been told
	asked  uint64                 // number of the last question
	states map[uint64]chan string // by number, questions that are not answered yet
	nag    *time.Timer            // tells ranks in a fence which ranks are missing; nil if not set
	room   int                    // bytes that ranks may still record

	departures *Departures // which ranks learn that programs have returned
	untold     []untold    // by rank, what it has not been told of that
}

// A served is the server's state of one rank.
type served struct {
	c      *conn
	mu     sync.Mutex    // held while a line is written
	keys   int           // number of values that it has put
	fences int           // number of fences that it has called
	asking sync.Mutex    // guards asked
	asked  []line        // questions to it that have not been sent; the first is being sent
	leaves bool          // it has left in good order
	failed Failure       // of its program, if it has failed
	record []byte        // what it has recorded
	full   bool          // a record did not fit, and later ones are dropped
	over   chan struct{} // closed when its connection has ended
}

// An answer is one that the server owes to a rank.
type answer struct {
	rank int
	seq  uint64
}

// NewServer returns the server of a job, whose ranks are described by jobs.
func NewServer(jobs []Job) *Server {
	return &Server{jobs: jobs, ranks: make([]*served, len(jobs)), values: map[string]string{}, gets: map[string][]answer{},
		states: map[uint64]chan string{}, ended: make([]string, len(jobs)), departures: NewDepartures(len(jobs)),
		untold: make([]untold, len(jobs))}
}

// Job returns the description of the job that a rank is sent.
func (s *Server) Job(rank int) Job { return s.jobs[rank] }

// Serve serves a rank until its connection ends. It owns c.
func (s *Server) Serve(rank int, c io.ReadWriteCloser) error {
	return s.serve(rank, newServed(c), nil)
}

func newServed(c io.ReadWriteCloser) *served {
	return &served{c: newConn(c), over: make(chan struct{}), failed: Failure{Because: -1}}
}

// serve is Serve, but it reads nothing from the rank before ready is closed. A nil ready counts as closed.
func (s *Server) serve(rank int, r *served, ready <-chan struct{}) error {
	defer r.c.Close()
	defer close(r.over)
	r.mu.Lock()
	err := r.c.write(line{Op: "job", Job: &s.jobs[rank]})
	r.mu.Unlock()
	if err != nil {
		return nil // the process has ended, or it does not use weft: its exit status tells more
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
			return nil // the process has ended: its exit status tells more
		}
		if err == nil {
			err = s.handle(rank, r, l)
		}
		if err != nil {
			return fmt.Errorf("rank %d: %w", rank, err)
		}
	}
}

// register adds a rank to the ranks that are told of events, and returns the events so far.
func (s *Server) register(rank int, r *served) []line {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ranks[rank] = r
	news := append([]line(nil), s.downs...)
	news = append(news, returned(s.untold[rank].ranks)...)
	s.untold[rank].ranks = nil
	return append(news, s.told...)
}

// send sends a line to a rank. It takes the rank's lock, so lines of several goroutines do not mix.
func (r *served) send(l line) {
	r.mu.Lock()
	defer r.mu.Unlock()
	_ = r.c.write(l) // the goroutine that waits for the rank's process notices that it has ended
}

// handle acts on a line of a rank. An error means that the rank does not keep to the protocol. Replies are sent
// after the server's lock has been released, since a rank that does not read may hold them up.
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
			defer tell(s.others(rank), told)
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
		if r.fences++; r.fences == s.passed+1 && s.ended[rank] == "" {
			s.ahead++
		}
		s.fences = append(s.fences, answer{rank, l.Seq})
		reply.Op = "fenced"
		replies = s.open()
		if len(s.fences) > 0 && s.nag == nil {
			s.nag = time.AfterFunc(patience, s.tellMissing)
		}
	case "return":
		defer s.tellReturned(s.note(s.departures.Returned(rank, l.Told)))
	case "await":
		defer s.tellReturned(s.note(s.departures.Await(rank, l.Rank)))
	case "record":
		if r.full = r.full || s.room < len(l.Bytes); !r.full {
			s.room -= len(l.Bytes)
			r.record = append(r.record, l.Bytes...)
		}
	case "leave":
		if r.leaves = true; r.failed.Why != "" { // the end of its process may be far off, and says less
			defer s.Down(rank, r.failed.Why)
		}
	case "fail":
		r.failed = newFailure(l)
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

// others returns the ranks to which an event of a rank is sent: all that have registered and not ended. The caller
// holds the lock, and has stored the event for ranks that register later.
func (s *Server) others(rank int) (others []*served) {
	for i, r := range s.ranks {
		if r != nil && i != rank && s.ended[i] == "" {
			others = append(others, r)
		}
	}
	return others
}

// tell sends a line to several ranks. The server's lock must not be held.
func tell(ranks []*served, l line) {
	for _, r := range ranks {
		r.send(l)
	}
}

// patience is the time after which ranks in a fence are told which ranks are missing.
const patience = 10 * time.Second

// tellMissing tells each rank that waits in a fence which ranks have not called it.
func (s *Server) tellMissing() {
	s.mu.Lock()
	s.nag = nil
	waiting := slices.Clone(s.fences)
	var come []int // number of fences that each rank has called
	for i, r := range s.ranks {
		switch {
		case s.ended[i] != "":
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

// open takes out and returns the answers to fences that may end: every rank has called them, or has ended. The caller
// holds the lock.
func (s *Server) open() (free []answer) {
	for s.ahead == len(s.ranks) && len(s.fences) > 0 {
		s.passed++
		s.ahead = 0
		for i, r := range s.ranks {
			if s.ended[i] != "" || r != nil && r.fences > s.passed {
				s.ahead++
			}
		}
		keep := s.fences[:0]
		for _, a := range s.fences {
			if s.ranks[a.rank].fences <= s.passed {
				free = append(free, a)
			} else {
				keep = append(keep, a)
			}
		}
		s.fences = keep
	}
	return free
}

// answer sends a reply to each request that waits for it, under the request's number.
func (s *Server) answer(to []answer, l line) {
	for _, a := range to {
		s.mu.Lock()
		r := s.ranks[a.rank]
		s.mu.Unlock()
		l.Seq = a.seq
		r.send(l)
	}
}
