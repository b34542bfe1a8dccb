package perf

import (
	"bytes"
	"context"
	_ "embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"

	"weft/internal/launch"
	"weft/lab/perf/openmpi"
)

// mpiSource is the C program with which MPI libraries are measured. It prints samples as a rank of weft does
// (emit).
//
//go:embed peers/mpi.c.txt
var mpiSource []byte

// mpi is an MPI library: our C program with its compiler and its launcher.
type mpi struct {
	name, cc, run, pkg string
	flags              []string
}

func (m mpi) Name() string { return m.name }

// Absent looks for the compiler and the launcher, under the names by which Debian tells the two libraries apart.
func (m mpi) Absent() string {
	for _, c := range []string{m.cc, m.run} {
		if _, err := exec.LookPath(c); err != nil {
			return m.pkg
		}
	}
	return ""
}

// Supports leaves out what MPI has no counterpart for: ranks that sleep while they wait, one-sided writes that a
// polling peer sees, and the time from one holder of a lock to the next.
func (m mpi) Supports(s Spec) bool {
	if m.name == "mpich" && s.N > runtime.NumCPU() {
		return false // it polls without giving way: a barrier takes a time slice for each rank
	}
	switch s.Test {
	case "barrier":
		return true
	case "lock":
		return s.Op != "handover"
	default:
		return s.Op == "send" && !s.Blocked && !s.Interrupted
	}
}

// build compiles the C program with the library's compiler, once in the life of this process.
func (m mpi) build(ctx context.Context) (string, error) {
	return buildOnce(m.name, func(bin string) error {
		src := filepath.Join(filepath.Dir(bin), "mpi.c")
		if err := os.WriteFile(src, mpiSource, 0o600); err != nil {
			return err
		}
		out, err := exec.CommandContext(ctx, m.cc, "-O2", "-o", bin, src).CombinedOutput()
		if err != nil {
			return fmt.Errorf("%s: %w: %s", m.cc, err, out)
		}
		return nil
	})
}

// Run runs the C program once for each size, with as many operations as weft does.
func (m mpi) Run(ctx context.Context, s Spec) (samples []Sample, err error) {
	bin, err := m.build(ctx)
	if err != nil {
		return nil, err
	}
	far, err := m.between()
	if err != nil {
		return nil, err
	}
	for _, size := range s.Sizes {
		n := 2
		count := s.count(size)
		switch s.Test {
		case "latency":
			count = s.iterations(size)
		case "alltoall":
			n = s.N
			count = s.Exchanges
		case "barrier":
			n = s.N
			count = s.passes()
		case "lock":
			n = s.N
			count = lockCount
			if s.Op == "reacquire" {
				n = 2
			}
		}
		args := slices.Concat([]string{"-n", strconv.Itoa(n)}, m.flags, far,
			[]string{bin, s.Test, strconv.Itoa(count), strconv.Itoa(size)})
		cmd := exec.CommandContext(ctx, m.run, args...)
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		out, err := cmd.Output()
		if err != nil {
			return nil, fmt.Errorf("%s: %w: %s", m.run, err, stderr.Bytes())
		}
		got, err := parseSamples(out)
		if err != nil {
			return nil, err
		}
		samples = append(samples, got...)
	}
	return samples, nil
}

// lockCount is how often MPI takes a lock.
const lockCount = 20000

// between returns the flags with which the ranks run on two hosts of the lab and talk by TCP; nothing if this process
// does not run in a lab.
func (m mpi) between() (flags []string, err error) {
	here, there, err := ends()
	if err != nil || here == there {
		return nil, err
	}
	if m.name != "openmpi" {
		return nil, fmt.Errorf("%s: not between hosts", m.name)
	}
	return openmpi.Hosts(built.dir, []launch.Host{here, there})
}
