package bootstrap

import (
	"cmp"
	"time"
)

// Ended returns why a rank has ended, or "" if it has not.
func (s *Server) Ended(rank int) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ended[rank]
}

// farewell bounds the time that the server goes on reading from a rank after its process has ended: a child of the
// process may hold the connection open for longer.
const farewell = time.Second

// A Failure is what a rank says of its program that has failed.
type Failure struct {
	Why     string // "" if the program has not failed, as far as is known
	Because int    // the rank whose end made it fail, or -1
	At      time.Time
}

// newFailure returns what a line says.
func newFailure(l line) Failure {
	f := Failure{Why: cmp.Or(l.Value, "it failed"), Because: -1, At: time.Now()}
	if len(l.Told) > 0 {
		f.Because = l.Told[0]
	}
	return f
}

// Failing returns the ranks that have said that their programs have failed.
func (s *Server) Failing() (ranks []int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for rank, r := range s.ranks {
		if r != nil && r.failed.Why != "" {
			ranks = append(ranks, rank)
		}
	}
	return ranks
}

// Failed returns what a rank whose process has ended has said of a failure.
func (s *Server) Failed(rank int) Failure {
	r := s.heard(rank)
	if r == nil {
		return Failure{Because: -1}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return r.failed
}

// Down tells all other ranks that a rank has ended, and why. Fences no longer wait for it. When the programs of all
// ranks have returned, the end of one in good order matters only to the ranks with which it has exchanged something.
// Only the first cause counts.
func (s *Server) Down(rank int, cause string) {
	if cause == ErrExited.Error() && !s.hasLeft(rank) {
		cause = errUnsaid.Error()
	}
	s.mu.Lock()
	if s.ended[rank] != "" {
		s.mu.Unlock()
		return
	}
	l := line{Op: "down", Rank: rank, Value: cause}
	if r := s.ranks[rank]; r == nil || r.fences <= s.passed {
		s.ahead++
	}
	s.ended[rank] = cmp.Or(cause, errUnsaid.Error())
	news := s.note(s.departures.Ended(rank))
	var others []*served
	if told, returned := s.departures.Told(rank); returned && cause == ErrExited.Error() && s.departures.Over() {
		for _, i := range told {
			if s.ended[i] == "" {
				others = append(others, s.ranks[i])
			}
		}
	} else {
		s.downs = append(s.downs, l)
		others = s.others(rank)
	}
	free := s.open()
	s.mu.Unlock()
	tell(others, l)
	s.tellReturned(news)
	s.answer(free, line{Op: "fenced"})
}

// Collect makes the server keep what ranks record, up to that many bytes in all. It is called before Serve.
func (s *Server) Collect(most int) { s.room = most }

// AskRecords asks the ranks that have not ended to send what they have recorded.
func (s *Server) AskRecords() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for rank, r := range s.ranks {
		if r != nil && s.ended[rank] == "" {
			go r.ask(line{Op: "record"}) // this blocks if the rank is stopped and its socket full
		}
	}
}

// Recorded returns what a rank whose process has ended has recorded and sent. The server keeps the bytes.
func (s *Server) Recorded(rank int) []byte {
	r := s.heard(rank)
	if r == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return r.record
}

// hasLeft reports whether a rank whose process has ended said that it leaves.
func (s *Server) hasLeft(rank int) bool {
	r := s.heard(rank)
	if r == nil {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return r.leaves
}

// heard waits until everything that a rank whose process has ended wrote has been read, or the farewell time is over.
// It returns nil if the rank never connected.
func (s *Server) heard(rank int) *served {
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
	return r
}
