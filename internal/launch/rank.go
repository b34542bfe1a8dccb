package launch

import (
	"errors"
	"fmt"
	"io"
	"syscall"
	"time"

	"weft/internal/bootstrap"
	"weft/internal/process"
)

// A rank is one process of a job.
type rank struct {
	number int
	place  place
	pid    int
	began  time.Time

	ended   chan struct{} // closed when it has ended, and the end has been reported
	exit    process.Exit  // set when it has ended
	failure bootstrap.Failure
	late    bool // it had failed, or was ending, when the launcher could not wait for its end any longer
	words   lastWords
}

// start starts a rank.
func (r *Running) start(k *rank) error {
	o := process.Order{
		ID: k.number, Program: k.place.program(r.job.Program), Args: r.job.Args, Dir: k.place.reply.Dir, CPUs: k.place.cpus,
		Env: append(r.job.env(), k.place.env...), Network: k.place.lab.Namespace,
	}
	k.began = time.Now()
	pid, err := k.place.host.Start(o, r.streams(k), func(e process.Exit) {
		k.exit = e
		r.ends <- k
	})
	switch {
	case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE):
		return fmt.Errorf("weft: rank %d cannot be started: %w: %d ranks need about %d descriptors in the launcher "+
			"(ulimit -n)", k.number, err, r.job.N, 3*r.job.N+20)
	case err != nil:
		return fmt.Errorf("weft: rank %d: %w", k.number, err)
	}
	k.pid = pid
	return nil
}

// serve serves a rank's connection until it ends.
func (r *Running) serve(k *rank, c io.ReadWriteCloser) {
	if err := r.server.Serve(k.number, c); err != nil {
		r.report("weft run: %v\n", err)
	}
}

// outcome returns the status of a rank that has failed, and the cause in words. A rank that is killed after it has said
// that its program has failed has the status that it would have ended with.
func (k *rank) outcome() (status int, cause string) {
	if k.exit.Signaled && k.failure.Why != "" {
		return 1, k.failure.Why
	}
	return k.exit.Status, k.exit.Cause
}

// why returns in words why the rank failed.
func (k *rank) why() string {
	_, cause := k.outcome()
	if said := k.words.about(k.exit); said != "" {
		return cause + ": " + said
	}
	return cause
}

// failedAt returns when a rank that has ended failed, as far as the launcher knows.
func (k *rank) failedAt() time.Time {
	if at := k.failure.At; !at.IsZero() {
		return at
	}
	return k.exit.At
}

// signal sends a signal to the rank and its children. It reports whether the rank had not ended.
func (k *rank) signal(s syscall.Signal) bool { return k.place.host.Signal(k.number, s) }

// Kill kills a rank and its children, and returns when the rank has ended. It does nothing to a rank that has ended.
func (r *Running) Kill(rank int) {
	k := r.ranks[rank]
	k.signal(syscall.SIGKILL)
	<-k.ended
}

// Stop stops a rank, and returns when none of its threads runs any more. It reports whether the rank had not ended.
func (r *Running) Stop(rank int) bool { return r.ranks[rank].place.host.Stop(rank) }

// Continue lets a rank go on that was stopped. It reports whether the rank had not ended.
func (r *Running) Continue(rank int) bool { return r.ranks[rank].signal(syscall.SIGCONT) }

// Signal sends a signal to a rank and its children. It reports whether the rank had not ended.
func (r *Running) Signal(rank int, s syscall.Signal) bool { return r.ranks[rank].signal(s) }

// PID returns the number of a rank's process, on its host.
func (r *Running) PID(rank int) int { return r.ranks[rank].pid }

// Ended returns a channel that is closed when a rank has ended and its output has been passed on.
func (r *Running) Ended(rank int) <-chan struct{} { return r.ranks[rank].ended }

// Exit waits until a rank has ended. It returns the exit status, as a shell has it, and the cause in words.
func (r *Running) Exit(rank int) (status int, cause string) {
	k := r.ranks[rank]
	<-k.ended
	return k.exit.Status, k.exit.Cause
}
