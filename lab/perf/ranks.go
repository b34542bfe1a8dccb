package perf

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"weft/internal/launch"
)

// envSpec is the environment variable that makes an executable a rank of a measurement.
const envSpec = "WEFT_PERF"

// task is the value of envSpec.
type task struct {
	System string
	Spec   Spec
}

// Rank runs a rank's part if this process is a rank of a measurement, and reports whether it was. The main function
// of every program that measures must call it first.
func Rank() bool {
	text := os.Getenv(envSpec)
	if text == "" {
		return false
	}
	os.Unsetenv(envSpec)
	var t task
	err := json.Unmarshal([]byte(text), &t)
	if err == nil {
		if t.System == "weft" {
			err = weftRank(t.Spec)
		} else {
			err = socketRank(t.System, t.Spec)
		}
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "weftlab perf: %v\n", err)
		os.Exit(1)
	}
	return true
}

// runRanks runs this executable as the ranks of a job, and returns the samples that rank 0 prints.
func runRanks(ctx context.Context, system string, n int, s Spec) ([]Sample, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(task{system, s})
	if err != nil {
		return nil, err
	}
	var out, report bytes.Buffer
	job := launch.Job{
		Program: self, N: n, Transport: s.Transport, Stdout: &out, Stderr: os.Stderr, Report: &report,
		Env: []string{envSpec + "=" + string(text)},
	}
	if s.Guard != "" {
		job.Env = append(job.Env, "WEFT_GUARD="+s.Guard)
	}
	if s.Blocked {
		job.Env = append(job.Env, "WEFT_SPIN=0")
	}
	if s.Interrupted {
		job.Env = append(job.Env, "WEFT_INTERRUPT=1")
	}
	result, err := launch.Run(ctx, job, nil)
	if err == nil && result.Status != 0 {
		err = fmt.Errorf("%s: %s", system, strings.TrimSpace(report.String()))
	}
	if err != nil {
		return nil, err
	}
	samples, err := parseSamples(out.Bytes())
	for i := range samples {
		if len(s.Sizes) == 1 && samples[i].CPU == 0 {
			samples[i].CPU = result.CPU.Seconds()
		}
	}
	return samples, err
}

// parseSamples reads samples, one JSON object a line.
func parseSamples(out []byte) (samples []Sample, err error) {
	for line := range bytes.Lines(out) {
		var s Sample
		if line = bytes.TrimSpace(line); len(line) == 0 || line[0] != '{' {
			continue
		}
		if err := json.Unmarshal(line, &s); err != nil {
			return nil, fmt.Errorf("weftlab perf: %q: %w", line, err)
		}
		samples = append(samples, s)
	}
	return samples, nil
}

// emit prints a sample for parseSamples.
func emit(s Sample) error { return json.NewEncoder(os.Stdout).Encode(s) }
