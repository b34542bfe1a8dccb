package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"

	"weft"
	"weft/internal/cli"
	"weft/internal/launch"
)

// Some commands start a job whose ranks are this program: weft info, weft doctor and weft perf.

// envOwn says, in the environment of a rank of such a job, what it does; ranks of weft perf have arguments.
const envOwn = "WEFT_OWN_RANK"

// ownRank is the main function of such a rank, if this process is one.
func ownRank() bool {
	run := map[string]func(context.Context, *weft.Proc) error{
		"info": tellInfo, "doctor": tellExamined,
	}[os.Getenv(envOwn)]
	if run == nil {
		return false
	}
	weft.Main(run)
	return true
}

// runOwn runs such a job for a command, until a signal asks this process to end. What the ranks write to standard error
// becomes part of the error.
func runOwn(ctx context.Context, command string, job launch.Job) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	ctx, stop := cli.UntilSignal(ctx)
	defer stop()
	var said bytes.Buffer
	job.Program = self
	job.Report = &said
	if job.Stderr == nil {
		job.Stderr = &said
	}
	result, err := launch.Run(ctx, job, nil)
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	if err == nil && result.Status != 0 {
		err = fmt.Errorf("%s: a job does not run here: %s", command, strings.TrimSpace(said.String()))
	}
	return err
}

// askRanks runs such a job, of which each rank prints what it has found out as a line of JSON, and returns these lines
// by rank.
func askRanks[T any](ctx context.Context, command string, job launch.Job, rank func(T) int) ([]T, error) {
	var out bytes.Buffer
	job.Stdout = &out
	job.Env = append(job.Env, envOwn+"="+command)
	if err := runOwn(ctx, command, job); err != nil {
		return nil, err
	}
	all := make([]T, job.N)
	for line := range bytes.Lines(out.Bytes()) {
		var r T
		if err := json.Unmarshal(line, &r); err != nil || rank(r) < 0 || rank(r) >= job.N {
			return nil, errors.Join(fmt.Errorf("%s: a rank said %q", command, line), err)
		}
		all[rank(r)] = r
	}
	return all, nil
}
