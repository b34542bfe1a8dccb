package mpisuite

import (
	"bytes"
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"weft/internal/launch"
	"weft/lab/perf/openmpi"
)

// source is the suite in C.
//
//go:embed peers/suite.c.txt
var source []byte

// Config says what is measured.
type Config struct {
	Ranks     int
	Transport string         // of weft
	Sizes     []int          // bytes
	Count     int            // repetitions
	Rounds    int            // of all systems
	Alloc     bool           // elements of weft's ranks lie in memory of mpi.Alloc
	Only      *regexp.Regexp // names of benchmarks, or nil for all
	Peers     []string       // openmpi, mpich

	env []string // of weft's ranks
}

// A Result is one benchmark of all systems.
type Result struct {
	Bench  string             `json:"bench"`
	Size   int                `json:"size"`
	Micros map[string]float64 `json:"us"`      // median, by system
	Hidden map[string]float64 `json:"overlap"` // percent, of operations that only begin
	Work   float64            `json:"work"`    // of programs: operations on numbers, or bytes; or 0
	Ratio  float64            `json:"ratio"`   // weft divided by the fastest peer, or 0
}

// Names returns the names of the benchmarks.
func Names() (names []string) {
	for _, b := range benches() {
		names = append(names, b.name)
	}
	return names
}

// Measure runs all systems in turn, round after round. Show is told what is measured.
func Measure(ctx context.Context, cfg *Config, show func(round int, system string)) ([]Result, error) {
	dir, err := os.MkdirTemp("", "weft-mpi-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	t := task{Sizes: cfg.Sizes, Count: cfg.Count, File: filepath.Join(dir, "file"), Alloc: cfg.Alloc}
	for _, name := range Names() {
		if cfg.Only == nil || cfg.Only.MatchString(name) {
			t.Names = append(t.Names, name)
		}
	}
	if len(t.Names) == 0 {
		return nil, fmt.Errorf("no benchmark matches %v: there are %s", cfg.Only, strings.Join(Names(), " "))
	}
	for _, peer := range cfg.Peers {
		if err := build(ctx, dir, peer); err != nil {
			return nil, err
		}
	}
	samples := map[string][]Sample{}
	for round := range cfg.Rounds {
		for _, system := range append([]string{"weft"}, cfg.Peers...) {
			show(round, system)
			got, err := cfg.once(ctx, dir, system, t)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", system, err)
			}
			samples[system] = append(samples[system], got...)
		}
	}
	return results(samples), nil
}

// build compiles the C program with a library's compiler.
func build(ctx context.Context, dir, peer string) error {
	for _, name := range []string{"mpicc." + peer, launcher(peer)} {
		if _, err := exec.LookPath(name); err != nil {
			return fmt.Errorf("-vs %s: %s is not installed: leave it out", peer, name)
		}
	}
	src := filepath.Join(dir, "suite.c")
	if err := os.WriteFile(src, source, 0o600); err != nil {
		return err
	}
	out, err := exec.CommandContext(ctx, "mpicc."+peer, "-O2", "-o", filepath.Join(dir, peer), src, "-lm").CombinedOutput()
	if err != nil {
		return fmt.Errorf("mpicc.%s: %w: %s", peer, err, out)
	}
	return nil
}

// between returns the flags with which the ranks run on the hosts of the lab that this process runs in, if it does.
func between(dir, system string) ([]string, error) {
	hosts, err := launch.LabHosts()
	if err != nil || len(hosts) < 2 {
		return nil, err
	}
	if system != "openmpi" {
		return nil, fmt.Errorf("%s does not run between hosts of a lab: -vs openmpi", system)
	}
	return openmpi.Hosts(dir, hosts)
}

// launcher returns the command that starts the ranks of a peer.
func launcher(peer string) string {
	if peer == "openmpi" {
		return "mpirun.openmpi"
	}
	return "mpiexec." + peer
}

// once runs one system.
func (cfg *Config) once(ctx context.Context, dir, system string, t task) ([]Sample, error) {
	var out, report bytes.Buffer
	if system == "weft" {
		self, err := os.Executable()
		if err != nil {
			return nil, err
		}
		text, err := json.Marshal(t)
		if err != nil {
			return nil, err
		}
		result, err := launch.Run(ctx, launch.Job{
			Program: self, N: cfg.Ranks, Transport: cfg.Transport, Stdout: &out, Stderr: os.Stderr, Report: &report,
			Env: append([]string{envTask + "=" + string(text)}, cfg.env...),
		}, nil)
		if err == nil && result.Status != 0 {
			err = fmt.Errorf("%s", strings.TrimSpace(report.String()))
		}
		if err != nil {
			return nil, err
		}
		return parse(out.Bytes())
	}
	args := []string{"-n", strconv.Itoa(cfg.Ranks), filepath.Join(dir, system), strconv.Itoa(t.Count),
		strings.Join(t.Names, ","), t.File}
	hosts, err := between(dir, system)
	if err != nil {
		return nil, err
	}
	if system == "openmpi" {
		// Its component rdma crashes in MPI_Compare_and_swap among ranks of one host (4.1).
		args = slices.Concat([]string{"--oversubscribe", "--allow-run-as-root", "--mca", "osc", "^rdma"}, hosts, args)
	}
	for _, size := range t.Sizes {
		args = append(args, strconv.Itoa(size))
	}
	cmd := exec.CommandContext(ctx, launcher(system), args...)
	cmd.Stdout = &out
	cmd.Stderr = &report
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("%w: %s", err, report.Bytes())
	}
	return parse(out.Bytes())
}

// parse reads samples, a JSON object a line.
func parse(out []byte) (samples []Sample, err error) {
	for d := json.NewDecoder(bytes.NewReader(out)); d.More(); {
		var s Sample
		if err := d.Decode(&s); err != nil {
			return nil, fmt.Errorf("%w: %s", err, out)
		}
		samples = append(samples, s)
	}
	return samples, nil
}

// results puts the samples of all systems side by side.
func results(samples map[string][]Sample) (all []Result) {
	micros := map[string]map[string][]float64{} // by benchmark, by system
	hidden := map[string]map[string][]float64{}
	for _, s := range samples["weft"] {
		key := fmt.Sprint(s.Bench, " ", s.Size)
		if micros[key] == nil {
			micros[key] = map[string][]float64{}
			hidden[key] = map[string][]float64{}
			all = append(all, Result{Bench: s.Bench, Size: s.Size, Work: s.Work})
		}
	}
	for system, list := range samples {
		for _, s := range list {
			key := fmt.Sprint(s.Bench, " ", s.Size)
			micros[key][system] = append(micros[key][system], s.Micros)
			hidden[key][system] = append(hidden[key][system], s.Overlap)
		}
	}
	for i := range all {
		r := &all[i]
		key := fmt.Sprint(r.Bench, " ", r.Size)
		r.Micros = medians(micros[key])
		if r.Bench[0] == 'I' {
			r.Hidden = medians(hidden[key])
		}
		best := math.Inf(1)
		for system, us := range r.Micros {
			if system != "weft" {
				best = min(best, us)
			}
		}
		r.Ratio = r.Micros["weft"] / best
	}
	return all
}

func medians(of map[string][]float64) map[string]float64 {
	m := map[string]float64{}
	for system, v := range of {
		slices.SortFunc(v, cmp.Compare)
		m[system] = v[len(v)/2]
	}
	return m
}
