package perf

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"

	"weft/internal/launch"
)

// sortTargets concern a whole program between hosts: the Integer Sort of the NAS benchmarks, whose messages are
// long. They compare the path that weft chooses by itself with TCP.
func sortTargets(hosts int) (targets []Target) {
	for n := 2; n <= min(hosts, 4); n += 2 {
		auto := Spec{Test: "nas", Transport: "auto", Op: "is", Sizes: []int{0}, N: n, Class: "A"}
		tcp := auto.with(func(s *Spec) { s.Transport = "tcp" })
		targets = append(targets, Target{
			Name: fmt.Sprintf("is%d", n),
			What: fmt.Sprintf("Integer Sort, class A, %d hosts, against `-transport tcp`", n),
			Ours: auto, Against: weftDoing("over tcp", tcp), Limit: 1 / 1.2, AtLeast: true,
		})
	}
	return targets
}

// nasRate finds the rate in a line such as " Mop/s total     =                   104.25".
var nasRate = regexp.MustCompile(`Mop/s total +=[ ]+([0-9.]+)`)

// runNAS runs a program of examples/nas as a job.
func runNAS(ctx context.Context, s Spec) ([]Sample, error) {
	program, err := buildNAS(ctx, s.Op)
	if err != nil {
		return nil, err
	}
	var out, report bytes.Buffer
	result, err := launch.Run(ctx, launch.Job{
		Program: program, Args: []string{"-class", s.Class}, N: s.N, Transport: s.Transport,
		Stdout: &out, Stderr: os.Stderr, Report: &report,
	}, nil)
	if err == nil && result.Status != 0 {
		err = fmt.Errorf("%s: %s", s.Op, strings.TrimSpace(report.String()))
	}
	if err != nil {
		return nil, err
	}
	return parseNAS(out.Bytes())
}

// TraceNAS runs a program of examples/nas as a job whose ranks write their traces into files of this name.
func TraceNAS(ctx context.Context, name, class string, n int, file string) error {
	program, err := buildNAS(ctx, name)
	if err != nil {
		return err
	}
	var out, report bytes.Buffer
	result, err := launch.Run(ctx, launch.Job{
		Program: program, Args: []string{"-class", class}, N: n, Env: []string{"WEFT_TRACE=" + file},
		Stdout: &out, Stderr: os.Stderr, Report: &report,
	}, nil)
	if err == nil && result.Status != 0 {
		err = fmt.Errorf("%s: %s", name, strings.TrimSpace(report.String()))
	}
	if err == nil {
		_, err = parseNAS(out.Bytes())
	}
	return err
}

// parseNAS reads the rate from a program's report, and makes sure that its result was verified.
func parseNAS(out []byte) ([]Sample, error) {
	m := nasRate.FindSubmatch(out)
	if m == nil || !bytes.Contains(out, []byte(" SUCCESSFUL")) {
		return nil, fmt.Errorf("perf: no verified result in %q", out)
	}
	rate, err := strconv.ParseFloat(string(m[1]), 64)
	return []Sample{{Msgs: rate * 1e6, Ops: 1}}, err
}

// buildNAS builds a program of the benchmarks from its source in this module.
func buildNAS(ctx context.Context, name string) (string, error) {
	return buildOnce("nas-"+name, func(file string) error {
		out, err := exec.CommandContext(ctx, "go", "build", "-o", file, "weft/examples/nas/"+name).CombinedOutput()
		if err != nil {
			return fmt.Errorf("perf: %s is built from source, so this must run in weft's source directory: %w: %s",
				name, err, out)
		}
		return nil
	})
}
