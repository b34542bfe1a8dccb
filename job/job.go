package job

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"

	"weft"
	"weft/internal/launch"
	"weft/internal/waitgraph"
)

// A Job is a job that Start has started: real processes, each of them a rank. Any number of
// goroutines may use it. Its methods panic if the job does not have the rank.
type Job struct {
	ctx     context.Context // ends with a cause when the job is to end
	cancel  context.CancelCauseFunc
	run     *launch.Running
	release func() // removes the program, if Start has built it
	ranks   []rank
}

// PID returns the number of a rank's process.
func (j *Job) PID(rank int) int { return j.run.PID(rank) }

// Kill kills the process of a rank and the processes that it has started, and waits until the rank
// has ended. If the rank has ended already Kill does nothing.
func (j *Job) Kill(rank int) {
	j.ranks[rank].killed.Store(true)
	j.run.Kill(rank)
}

// Stop stops a rank: from its return until Continue, no thread of the rank runs. It returns false
// if the rank has ended.
func (j *Job) Stop(rank int) bool { return j.run.Stop(rank) }

// Continue lets a stopped rank run again. It returns false if the rank has ended.
func (j *Job) Continue(rank int) bool { return j.run.Continue(rank) }

// Signal sends a signal to a rank and the processes that it has started. SIGQUIT makes a Go program
// print the stacks of its goroutines and end. It returns false if the rank has ended.
func (j *Job) Signal(rank int, s os.Signal) bool {
	n, ok := s.(syscall.Signal)
	return ok && j.run.Signal(rank, n)
}

// Output returns what a rank has written so far to standard output and standard error. If that is
// more than 16 MiB it returns the last part.
func (j *Job) Output(rank int) string {
	r := &j.ranks[rank]
	r.mu.Lock()
	defer r.mu.Unlock()
	return string(r.text)
}

// Await waits until a rank has written a line that contains text. If the rank ends first the error
// contains an ExitError.
func (j *Job) Await(ctx context.Context, rank int, text string) error {
	r := &j.ranks[rank]
	for ended := false; ; {
		found, more := r.find(text)
		switch {
		case found:
			return nil
		case ended:
			return fmt.Errorf("weft: job: waiting for %q: %w", text, j.exitError(rank))
		}
		select {
		case <-more:
		case <-j.run.Ended(rank):
			ended = true // look once more
		case <-ctx.Done():
			return fmt.Errorf("weft: job: waiting for %q: %w; rank %d wrote %q", text, ctx.Err(), rank,
				lastLines(j.Output(rank)))
		}
	}
}

// Exit waits until a rank has ended, and returns its exit status as a shell reports it: 128 + the
// signal's number after a signal.
func (j *Job) Exit(ctx context.Context, rank int) (status int, err error) {
	select {
	case <-j.run.Ended(rank):
		status, _ = j.run.Exit(rank)
		return status, nil
	case <-ctx.Done():
		return 0, fmt.Errorf("weft: job: waiting for the end of rank %d: %w", rank, ctx.Err())
	}
}

// Wait waits until all ranks have ended. The error joins an ExitError for each rank that has failed;
// ranks that Kill has ended do not count as failed. A stopped rank does not end before Continue
// or Kill.
func (j *Job) Wait(ctx context.Context) error {
	select {
	case <-j.run.Done():
	case <-ctx.Done():
		return fmt.Errorf("weft: job: waiting for the end of the job: %w", ctx.Err())
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

// Waits returns, as text, what each rank waits for, and which ranks are in a deadlock, as weft ps
// shows it.
func (j *Job) Waits() string {
	var s strings.Builder
	_ = waitgraph.New(j.run.Status().Ranks).WriteText(&s)
	return s.String()
}

// Close kills the ranks that have not ended, and waits until no process of the job is left. Output
// can still be called afterwards.
func (j *Job) Close() error {
	j.cancel(weft.ErrClosed)
	<-j.run.Done()
	j.release()
	return nil
}

func (j *Job) exitError(rank int) *ExitError {
	status, cause := j.run.Exit(rank)
	return &ExitError{rank, status, cause, lastLines(j.Output(rank))}
}
