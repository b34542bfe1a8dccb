package launch

import (
	"cmp"
	"errors"
	"slices"
	"sync"
	"syscall"
	"time"

	"weft/internal/bootstrap"
)

// A verdict is the result of a job, which follows from how its ranks end.
type verdict struct {
	result    Result
	collected int              // number of ranks that have ended
	failed    []*rank          // ranks that have failed, in the order of their failures
	well      bool             // a rank has ended well
	ended     syscall.Signal   // the signal to this process that ends the job, or 0
	over      bool             // the launcher has ended the job: how its ranks end does not count
	dead      []*rank          // ranks that have ended, and are not collected yet
	awaited   map[*rank]bool   // the first failure has been seen, and may be due to these, which are about to end; or nil
	late      <-chan time.Time // when the launcher waits for these no longer
}

// lateness is how long the launcher waits for the ends of ranks before it says which rank failed first: in some program
// the first thread has ended, and others have not.
const lateness = time.Second

// take takes note that a rank has ended. If it is the first that has failed, the ranks that had ended, or were about
// to, are awaited: it may have failed because one of them did. A rank says that its program has failed before it ends,
// so ranks that hear this may end before it. The same holds for a rank that others name as the cause.
func (r *Running) take(k *rank) {
	cause := r.hear(k)
	r.dead = append(r.dead, k)
	if k.exit.Status != 0 && !r.known() && !r.over && r.ended == 0 {
		r.awaited = r.ending()
		r.late = time.After(lateness)
	}
	for _, k := range r.dead {
		delete(r.awaited, k)
	}
	if r.awaited != nil && cause != nil && !slices.Contains(r.dead, cause) {
		r.awaited[cause] = true
	}
}

// known reports whether the launcher has seen a failure.
func (r *Running) known() bool { return len(r.failed) > 0 || r.awaited != nil }

// giveUp ends the wait for the ranks that are about to end.
func (r *Running) giveUp() {
	for k := range r.ending() {
		k.late = true
	}
	clear(r.awaited)
}

// collect records the ends of the ranks that have ended, if none other is awaited, and reports whether one failed.
func (r *Running) collect() (failed bool) {
	if len(r.awaited) > 0 || len(r.ends) > 0 {
		return false
	}
	dead := r.dead
	r.dead = nil
	for _, k := range dead {
		r.collected++
		r.result.CPU += k.exit.CPU
		r.server.Down(k.number, cmp.Or(k.failure.Why, k.exit.Cause))
		if k.exit.Status != 0 {
			failed = true
			r.failed = append(r.failed, k)
		} else {
			r.well = true
		}
	}
	if r.awaited != nil {
		r.awaited = nil
		r.late = nil
		if !r.over || !r.job.Survive {
			r.blame()
		}
	}
	for _, k := range dead {
		close(k.ended)
	}
	return failed
}

// hear takes note of what a rank that has ended has said of a failure. It returns the rank that this one names as the
// cause, if that has not been collected, or nil.
func (r *Running) hear(k *rank) (cause *rank) {
	if k.failure = (bootstrap.Failure{Because: -1}); k.exit.Status == 0 {
		return nil
	}
	k.failure = r.server.Failed(k.number)
	if c := k.failure.Because; c >= 0 && c < len(r.ranks) && !isClosed(r.ranks[c].ended) {
		return r.ranks[c]
	}
	return nil
}

// ending returns the ranks that have ended or said that they have failed, or are about to end, and have not been
// collected.
func (r *Running) ending() map[*rank]bool {
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
	for _, id := range r.server.Failing() {
		if k := r.ranks[id]; !isClosed(k.ended) {
			found[k] = true
		}
	}
	return found
}

// blame reports the rank that failed first.
func (r *Running) blame() {
	first := slices.MinFunc(r.failed, r.earlier)
	r.name(first)
	after := time.Since(first.began).Round(time.Millisecond)
	if r.job.N == 1 {
		r.report("weft run: rank 0 on %s failed after %v: %s\n", first.place.name, after, r.result.Cause)
		return
	}
	next := "ending the others"
	if r.job.Survive {
		next = "the others go on"
	}
	r.report("weft run: rank %d on %s failed after %v: %s; %s\n", first.number, first.place.name, after, r.result.Cause,
		next)
}

// name makes a rank the first that failed.
func (r *Running) name(k *rank) {
	r.result.Rank = k.number
	r.result.Status, r.result.Cause = k.outcome()
}

// follow blames, in place of the blamed rank, the one that it has named as the cause, if that one had failed, too, when
// the launcher could not wait for its end any longer.
func (r *Running) follow() {
	k := r.ranks[r.result.Rank]
	for range r.ranks {
		c := k.failure.Because
		if c < 0 || c >= len(r.ranks) || !r.ranks[c].late || r.ranks[c].exit.Status == 0 {
			break
		}
		k = r.ranks[c]
	}
	r.name(k)
}

// earlier compares ranks that were found dead together by which one failed first. A rank that has failed because of
// another one has not; a rank that notices the death of another may exit by itself, but no signal ends it.
func (r *Running) earlier(a, b *rank) int {
	return cmp.Or(
		compare(r.isVictim(a), r.isVictim(b)), compare(!a.exit.Signaled, !b.exit.Signaled),
		a.failedAt().Compare(b.failedAt()),
	)
}

// isVictim reports whether a rank that has failed has said that it did so because of another one, which has failed,
// too.
func (r *Running) isVictim(k *rank) bool {
	i := slices.IndexFunc(r.failed, func(other *rank) bool { return other.number == k.failure.Because })
	return i >= 0 && r.failed[i] != k
}

// compare orders false before true.
func compare(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

// interrupt takes note of a signal to this process, and reports whether it is one that ends programs.
func (r *Running) interrupt(s syscall.Signal) (ends bool) {
	switch s {
	case syscall.SIGQUIT:
		r.explain()
	case syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP:
	default:
		return false
	}
	if r.ended == 0 && (!r.known() || r.job.Survive) {
		r.ended = s
	}
	return true
}

// expire takes note that the job must end, and reports whether its ranks have time to do so themselves.
func (r *Running) expire(cause error) (grace bool) {
	if !r.known() || r.job.Survive {
		r.result.Status = statusTimeout
		r.result.Cause = cause.Error()
		r.report("weft run: %v; ending the job\n", cause)
		if errors.Is(cause, errTimeout) {
			r.explain()
		}
	}
	r.over = true
	return errors.Is(cause, errTimeout)
}

// statusTimeout is the status of a job that we have ended, as timeout(1) has it.
const statusTimeout = 124

// judge decides the status of a job that has ended.
func (r *Running) judge() {
	if r.result.Rank >= 0 && !r.over && r.ended == 0 && !r.job.Survive {
		r.follow()
	}
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
