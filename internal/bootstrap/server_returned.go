package bootstrap

import (
	"slices"
	"time"
)

// untold is what a rank has not been told of programs that have returned. A rank that awaits many is told of those
// that have returned meanwhile together, at most once in calm: the messages do not grow with the square of the job.
type untold struct {
	ranks []int
	calm  bool // it has been told lately
}

// calm is the time between two such messages to a rank.
const calm = 20 * time.Millisecond

// mostNews is how many ranks one line names.
const mostNews = 4096

// note takes notices, and returns the ranks that are to be told now. The caller holds the lock.
func (s *Server) note(news []Notice) (now []int) {
	for _, n := range news {
		u := &s.untold[n.To]
		u.ranks = append(u.ranks, n.Of...)
		if s.ranks[n.To] != nil && !u.calm {
			u.calm = true
			now = append(now, n.To)
		}
	}
	return now
}

// tellReturned tells ranks what they have not been told. The server's lock must not be held.
func (s *Server) tellReturned(ranks []int) {
	for _, rank := range ranks {
		s.mu.Lock()
		u := &s.untold[rank]
		lines := returned(u.ranks)
		u.ranks = nil
		u.calm = lines != nil
		r := s.ranks[rank]
		s.mu.Unlock()
		for _, l := range lines {
			r.send(l)
		}
		if lines != nil {
			time.AfterFunc(calm, func() { s.tellReturned([]int{rank}) })
		}
	}
}

// returned returns lines that tell of programs that have returned.
func returned(ranks []int) (lines []line) {
	for some := range slices.Chunk(ranks, mostNews) {
		lines = append(lines, line{Op: "returned", Told: some})
	}
	return lines
}
