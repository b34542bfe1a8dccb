package weft

import (
	"context"
	"fmt"
	"os"
	"strconv"

	"weft/internal/bootstrap/environment"
	"weft/internal/launch"
)

// Join joins the job of which this process was started, or makes a job of one. The
// environment tells: weft run, MPICH's mpiexec and srun (PMI), srun without PMI, torchrun,
// Kubernetes, etcd, or variables that the user sets (docs/LAUNCHERS.md has the order, and
// weft info says what counts and what is missing). Join waits until all ranks have joined,
// or ctx ends; after ten seconds it says on standard error what it waits for. A process joins
// once. Close leaves.
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
		err = p.loadAMT()
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
		return 0, fmt.Errorf("weft: %s=%q: must be a count", launch.RestartEnv, text)
	}
	return n, nil
}
