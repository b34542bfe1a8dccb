package launch

import (
	"context"
	"fmt"
	"os"
	"slices"
	"sync/atomic"
	"syscall"
	"time"
)

// RestartEnv is the environment variable that tells the ranks how often the job has been started again.
const RestartEnv = "WEFT_RESTART"

// ProgramEnv is the environment variable that tells a process which function it runs as a rank; see package job.
const ProgramEnv = "WEFT_PROGRAM"

// RunAgain runs a job as Run does. When the job has failed because a rank has, and all ranks have ended, it starts the
// job again, up to that many times. Each time is a job with its own number and secret; WEFT_RESTART counts them.
// RunAgain returns the result of the last one. It starts nothing again after a signal that ends programs, after the
// job's timeout, or when ctx has ended. Standard input goes to the first job only.
func RunAgain(ctx context.Context, job Job, restarts int, signals <-chan os.Signal) (Result, error) {
	relay := newRelay(signals)
	defer relay.stop()
	env := job.Env
	timeout := job.Timeout
	began := time.Now()
	var used time.Duration
	for {
		job.Env = append(slices.Clone(env), fmt.Sprintf("%s=%d", RestartEnv, job.Restart))
		result, err := Run(ctx, job, relay.out)
		used += result.CPU
		result.CPU = used
		failed := err == nil && result.Status != 0 && result.Rank >= 0
		if timeout > 0 {
			job.Timeout = timeout - time.Since(began)
		}
		if !failed || restarts == 0 || relay.ended.Load() || ctx.Err() != nil || timeout > 0 && job.Timeout <= 0 {
			return result, err
		}
		if job.Restart == restarts {
			job.report("weft run: the job has failed again, and was started again %d times, as often as it may be\n", restarts)
			return result, nil
		}
		job.Restart++
		job.Stdin = nil
		job.report("weft run: starting all ranks again: restart %d of %d\n", job.Restart, restarts)
	}
}

func (j *Job) report(format string, args ...any) {
	if j.Report != nil {
		fmt.Fprintf(j.Report, format, args...)
	}
}

// A relay passes signals on to the running job, and remembers whether one of them was to end it.
type relay struct {
	out   chan os.Signal
	ended atomic.Bool
	done  chan struct{}
}

func newRelay(signals <-chan os.Signal) *relay {
	r := &relay{out: make(chan os.Signal), done: make(chan struct{})}
	go r.run(signals)
	return r
}

func (r *relay) run(signals <-chan os.Signal) {
	for {
		select {
		case <-r.done:
			return
		case s := <-signals:
			switch s {
			case os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT:
				r.ended.Store(true)
			}
			select {
			case <-r.done:
				return
			case r.out <- s:
			}
		}
	}
}

func (r *relay) stop() { close(r.done) }
