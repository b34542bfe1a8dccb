package weft

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"

	"weft/internal/launch"
	"weft/internal/waitgraph"
)

// A Job is what Launch has started: real processes, each a rank. Its methods may be
// called by any goroutine. A rank that the job does not have makes them panic.
type Job struct {
	ctx    context.Context // ends with a cause when the job is to end
	cancel context.CancelCauseFunc
	run    *launch.Running
	temp   string // a directory with the program, if we have built it
	ranks  []launchedRank
}

// PID returns the number of a rank's process.
func (j *Job) PID(rank int) int { return j.run.PID(rank) }

// Kill kills a rank, with what it has started, and returns when it has ended. A rank
// that has ended stays as it is.
func (j *Job) Kill(rank int) {
	j.ranks[rank].killed.Store(true)
	j.run.Kill(rank)
}

// Stop stops a rank: none of its threads runs when Stop returns, until Continue. It
// reports false if the rank has ended.
func (j *Job) Stop(rank int) bool { return j.run.Stop(rank) }

// Continue lets a rank that was stopped go on. It reports false if the rank has ended.
func (j *Job) Continue(rank int) bool { return j.run.Continue(rank) }

// Signal sends a signal to a rank and what it has started: SIGQUIT makes a Go program
// write the stacks of its goroutines and end. It reports false if the rank has ended.
func (j *Job) Signal(rank int, s os.Signal) bool {
	n, ok := s.(syscall.Signal)
	return ok && j.run.Signal(rank, n)
}

// Output returns the lines that a rank has written so far, to standard output and to
// standard error. Of more than 16 MiB it is the end.
func (j *Job) Output(rank int) string {
	r := &j.ranks[rank]
	r.mu.Lock()
	defer r.mu.Unlock()
	return string(r.text)
}

// Await returns when a rank has written a line that contains text. It returns an
// ExitError if the rank ends without.
func (j *Job) Await(ctx context.Context, rank int, text string) error {
	r := &j.ranks[rank]
	for ended := false; ; {
		found, more := r.find(text)
		switch {
		case found:
			return nil
		case ended:
			return fmt.Errorf("weft: launch: waiting for %q: %w", text, j.exitError(rank))
		}
		select {
		case <-more:
		case <-j.run.Ended(rank):
			ended = true // look once more
		case <-ctx.Done():
			return fmt.Errorf("weft: launch: waiting for %q: %w; rank %d wrote %q", text, ctx.Err(), rank, lastLines(j.Output(rank)))
		}
	}
}

// Exit waits until a rank has ended and returns its exit status: 128 + the signal's
// number if a signal ended it, as a shell has it.
func (j *Job) Exit(ctx context.Context, rank int) (status int, err error) {
	select {
	case <-j.run.Ended(rank):
		status, _ = j.run.Exit(rank)
		return status, nil
	case <-ctx.Done():
		return 0, fmt.Errorf("weft: launch: waiting for the end of rank %d: %w", rank, ctx.Err())
	}
}

// Wait returns when all ranks have ended. The error joins an ExitError for each that did
// not end well, but for those that Kill has ended. A rank that is stopped does not end:
// Continue or Kill it.
func (j *Job) Wait(ctx context.Context) error {
	select {
	case <-j.run.Done():
	case <-ctx.Done():
		return fmt.Errorf("weft: launch: waiting for the end of the job: %w", ctx.Err())
	}
	if err := context.Cause(j.ctx); err != nil {
		return err
	}
	var errs []error
	for rank := range j.ranks {
		if status, _ := j.run.Exit(rank); status != 0 && !j.ranks[rank].killed.Load() {
			errs = append(errs, j.exitError(rank))
		}
	}
	return errors.Join(errs...)
}

// Waits says what each rank waits for, and which ranks wait for each other for good, as
// weft ps does.
func (j *Job) Waits() string {
	var s strings.Builder
	_ = waitgraph.New(j.run.Status().Ranks).WriteText(&s)
	return s.String()
}

// Close kills the ranks that have not ended, and returns when nothing is left of the
// job. What they wrote can still be read.
func (j *Job) Close() error {
	j.cancel(ErrClosed)
	<-j.run.Done()
	j.clean()
	return nil
}

// clean removes what we have built.
func (j *Job) clean() {
	if j.temp != "" {
		os.RemoveAll(j.temp)
	}
}

func (j *Job) exitError(rank int) *ExitError {
	status, cause := j.run.Exit(rank)
	return &ExitError{rank, status, cause, lastLines(j.Output(rank))}
}
