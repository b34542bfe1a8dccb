package bootstrap

import "time"

// Ended returns why a rank has ended, or "" if it has not.
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

// farewell bounds the time that the server goes on reading from a rank after its process has ended: a child of the
// process may hold the connection open for longer.
const farewell = time.Second

// Down tells all other ranks that a rank has ended, and why. Fences no longer wait for it.
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

// Collect makes the server keep what ranks record, up to that many bytes in all. It is called before Serve.
func (s *Server) Collect(most int) { s.room = most }

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

// ended reports whether a rank has ended. The caller holds the lock.
func (s *Server) ended(rank int) bool {
	for _, l := range s.downs {
		if l.Rank == rank {
			return true
		}
	}
	return false
}
