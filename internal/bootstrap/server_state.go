package bootstrap

import "context"

// State asks every rank what it waits for, and returns the answers by rank. The answer is "" from a rank that has
// ended, or has not answered when ctx ends.
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
		if r == nil || s.ended[i] != "" {
			continue
		}
		s.asked++
		c := make(chan string, 1)
		s.states[s.asked] = c
		open = append(open, question{i, s.asked, c})
		go r.ask(line{Op: "state", Seq: s.asked}) // this blocks if the rank is stopped and its socket full
	}
	s.mu.Unlock()
	answers := make([]string, len(ranks))
	for _, q := range open {
		select {
		case answers[q.rank] = <-q.c:
		case <-ctx.Done(): // ranks after this one may have answered all the same
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

// ask sends a question after the earlier ones that have not been sent.
func (r *served) ask(l line) {
	r.asking.Lock()
	defer r.asking.Unlock()
	if len(r.asked) == mostAsked {
		return // the rank does not read, so it would not answer
	}
	r.asked = append(r.asked, l)
	if len(r.asked) > 1 {
		return // the goroutine that sends the first question goes on with this one
	}
	for len(r.asked) > 0 {
		l = r.asked[0]
		r.asking.Unlock()
		r.send(l)
		r.asking.Lock()
		r.asked = r.asked[1:]
	}
}

// mostAsked bounds the questions that wait for a rank to read.
const mostAsked = 8
