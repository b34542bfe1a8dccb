package launch

import (
	"errors"
	"sync"
	"syscall"
	"time"
)

// A verdict is the result of a job, which follows from how its ranks end.
type verdict struct {
	result    Result
	collected int            // number of ranks that have ended
	failed    []*rank        // ranks that have failed, in the order of their failures
	well      bool           // a rank has ended well
	ended     syscall.Signal // the signal to this process that ends the job, or 0
	over      bool           // the launcher has ended the job: how its ranks end does not count
}

// collect records that a rank has ended, and reports whether it failed.
func (r *Running) collect(p *rank) (failed bool) {
	dead := []*rank{p}
	if p.exit.Status != 0 && len(r.failed) == 0 {
		dead = append(dead, r.dead(p)...)
	}
	for _, p := range dead {
		r.collected++
		r.result.CPU += p.exit.CPU
		r.server.Down(p.number, p.exit.Cause)
		if p.exit.Status != 0 {
			failed = true
			r.failed = append(r.failed, p)
		} else {
			r.well = true
		}
	}
	if failed && r.result.Rank < 0 && !r.over && r.ended == 0 {
		r.blame(dead)
	}
	for _, p := range dead {
		close(p.ended)
	}
	return failed
}

// dead returns the other ranks that had ended, or were about to, when p was found to have failed: p may have failed
// because one of them did.
func (r *Running) dead(p *rank) (others []*rank) {
	left := r.exiting()
	delete(left, p)
	for range len(r.ends) { // ranks whose end has been reported already
		q := <-r.ends
		others = append(others, q)
		delete(left, q)
	}
	for late := time.After(time.Second); len(left) > 0; {
		select {
		case q := <-r.ends:
			others = append(others, q)
			delete(left, q)
		case <-late: // in some program the first thread has ended, and others have not
			return others
		}
	}
	return others
}

// exiting returns the ranks that have ended, or are about to, and have not been collected.
func (r *Running) exiting() map[*rank]bool {
	var mu sync.Mutex
	var asked sync.WaitGroup
	found := map[*rank]bool{}
	for _, h := range r.hosts {
		asked.Go(func() {
			ids := h.Exiting()
			mu.Lock()
			defer mu.Unlock()
			for _, id := range ids {
				if id < len(r.ranks) && !isClosed(r.ranks[id].ended) { // larger numbers are agents
					found[r.ranks[id]] = true
				}
			}
		})
	}
	asked.Wait()
	return found
}

// blame reports the rank that failed first. Of several ranks that were found dead together it chooses a rank that was
// ended by a signal, since a rank that notices the death of another exits by itself.
func (r *Running) blame(dead []*rank) {
	var first *rank
	for _, p := range dead {
		if p.exit.Status != 0 && (first == nil || p.exit.Signaled && !first.exit.Signaled) {
			first = p
		}
	}
	r.result.Status = first.exit.Status
	r.result.Rank = first.number
	r.result.Cause = first.exit.Cause
	after := time.Since(first.began).Round(time.Millisecond)
	if r.job.N == 1 {
		r.report("weft run: rank 0 on %s failed after %v: %s\n", first.place.name, after, first.exit.Cause)
		return
	}
	next := "ending the others"
	if r.job.Survive {
		next = "the others go on"
	}
	r.report("weft run: rank %d on %s failed after %v: %s; %s\n", first.number, first.place.name, after, first.exit.Cause,
		next)
}

// interrupt records a signal to this process that ends programs.
func (r *Running) interrupt(s syscall.Signal) {
	switch s {
	case syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT:
		if r.ended == 0 && (len(r.failed) == 0 || r.job.Survive) {
			r.ended = s
		}
	}
}

// expire takes note that the job must end.
func (r *Running) expire(cause error) {
	if len(r.failed) == 0 || r.job.Survive {
		r.result.Status = statusTimeout
		r.result.Cause = cause.Error()
		r.report("weft run: %v; ending the job\n", cause)
		if errors.Is(cause, errTimeout) {
			r.explain()
		}
	}
	r.over = true
}

// statusTimeout is the status of a job that we have ended, as timeout(1) has it.
const statusTimeout = 124

// judge decides the status of a job that has ended.
func (r *Running) judge() {
	switch res := &r.result; {
	case r.over:
	case r.ended != 0 && len(r.failed) > 0:
		res.Status = 128 + int(r.ended)
		res.Rank = -1
		res.Cause = "signal: " + r.ended.String()
	case r.job.Survive && r.forgiven():
		res.Status = 0
		r.report("weft run: the others went on without rank %d and ended well\n", res.Rank)
	case len(r.failed) > 1 && res.Rank >= 0: // whose lines hide the cause
		r.report("weft run: rank %d was the first to fail: %s\n", res.Rank, r.ranks[res.Rank].why())
	}
	for _, l := range []*lines{r.out, r.errs} {
		if l.err == nil {
			continue
		}
		r.report("weft run: what the ranks wrote to %s is lost: %v\n", l.name, l.err)
		if r.result.Status == 0 {
			r.result.Status = 1
			r.result.Cause = l.err.Error()
		}
	}
}

// forgiven reports whether all ranks that failed were ended by signals, and another one
// ended well. A rank that says itself that it failed is believed: its status is
// the job's.
func (r *Running) forgiven() bool {
	for _, p := range r.failed {
		if !p.exit.Signaled {
			r.result.Status = p.exit.Status
			r.result.Rank = p.number
			r.result.Cause = p.exit.Cause
			return false
		}
	}
	return len(r.failed) > 0 && r.well
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
