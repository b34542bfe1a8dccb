package weft

import (
	"context"
	"fmt"
	"os"
	"strconv"

	"weft/internal/amt"
	"weft/internal/bootstrap/environment"
	"weft/internal/launch"
)

// Join joins the job as part of which this process was started, or makes a job of one rank. It
// finds the job by the environment: that of weft run, of MPICH's mpiexec and srun (PMI), of
// srun without PMI, torchrun, Kubernetes or etcd, or by variables that the user sets.
// docs/LAUNCHERS.md lists them in order, and weft info says which one applies and what is
// missing. Join waits until all ranks have joined, or until ctx ends; after ten seconds it
// says on standard error what it waits for. If ctx ends when the rank has met rank 0, the error
// is a MissingError; a rank that rank 0 does not let in gets a JoinRefusedError. A process can
// join once. Close leaves the job.
func Join(ctx context.Context, cfg *Config) (*Proc, error) {
	if os.Getenv(envSim) != "" {
		return nil, errJoinSim
	}
	src, err := environment.Join(ctx, func(text string) { fmt.Fprintln(os.Stderr, "weft: "+text) })
	if err != nil {
		return nil, err
	}
	p, err := newProc(cfg, src)
	if err == nil {
		p.again, err = restarted()
	}
	if err == nil {
		err = p.startRecording()
	}
	if err == nil {
		err = p.startTrace()
	}
	if err == nil {
		err = p.startTimeline()
	}
	if err == nil {
		var plan *amt.Plan
		plan, err = loadAMT(p.job.Size)
		p.amt = plan.Of(p.job.Rank)
	}
	if err == nil {
		p.showCounters()
		err = p.join(ctx)
	}
	if err != nil {
		if p != nil {
			p.hideCounters()
		}
		src.Close()
		return nil, err
	}
	p.answerQuestions()
	return p, nil
}

// restarted returns what WEFT_RESTART says.
func restarted() (int, error) {
	text := os.Getenv(launch.RestartEnv)
	if text == "" {
		return 0, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		return 0, fmt.Errorf("weft: %s=%q: must be a number of at least 0", launch.RestartEnv, text)
	}
	return n, nil
}
