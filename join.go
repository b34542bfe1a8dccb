package weft

import (
	"context"
	"errors"
	"fmt"
	"os"

	"weft/internal/bootstrap/environment"
	"weft/internal/driver"
	"weft/internal/join"
	"weft/internal/sim/job"
)

var errJoinSim = errors.New("weft: in the simulator all ranks live in one process: start them with weft.Main, not " +
	"weft.Join")

// Join joins the job as part of which this process was started, or makes a job of one rank. It
// finds the job by the environment: that of weft run, of MPICH's mpiexec and srun (PMI), of
// srun without PMI, torchrun, Kubernetes or etcd, or by variables that the user sets.
// docs/LAUNCHERS.md lists them in order, and weft info says which one applies and what is
// missing. Join waits until all ranks have joined, or until ctx ends; after ten seconds it
// says on standard error what it waits for. If ctx ends when the rank has met rank 0, the error
// is a MissingError; a rank that rank 0 does not let in gets a JoinRefusedError. A process can
// join once. Close leaves the job.
func Join(ctx context.Context, cfg *Config) (*Proc, error) {
	if os.Getenv(job.Env) != "" {
		return nil, errJoinSim
	}
	ctx = driver.Endless(ctx)
	src, err := environment.Join(ctx, func(text string) { fmt.Fprintln(os.Stderr, "weft: "+text) })
	if err != nil {
		return nil, err
	}
	m, err := join.Join(ctx, cfg.settings(), src)
	if err != nil {
		return nil, err
	}
	return newProc(m), nil
}
