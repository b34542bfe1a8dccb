package compare

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// The time of a short path differs by a tenth from one layout of the linker to another, and by more when the machine
// is busy. So the benchmarks are linked in several random layouts. The figure is the median over the layouts of the
// least of many short rounds. Three runs at a load of 15 were within 5 per cent of
// each other.
const (
	layouts = 6
	passes  = 4 // over all layouts, in turn
	counts  = 10
	rounds  = 1000 // of each count
)

// benchFile returns the benchmarks of a layout, from 1.
func benchFile(layout int) string { return fmt.Sprintf("compare.bench%d", layout) }

// buildBenchmarks links the benchmarks of the root package in all layouts.
func buildBenchmarks(ctx context.Context, tree string) error {
	for i := 1; i <= layouts; i++ {
		flag := fmt.Sprintf("-ldflags=-randlayout=%d", i)
		if err := run(ctx, tree, "go", "test", "-c", "-vet=off", flag, "-o", benchFile(i), "."); err != nil {
			return err
		}
	}
	return nil
}

// measureBenchmarks returns the figures of benchmarks of a tree, in ns.
func measureBenchmarks(ctx context.Context, tree string, names ...string) ([]float64, error) {
	least := make([][]float64, len(names))
	for pass := range passes {
		for i := range layouts {
			for b, name := range names {
				m := Measurement{Bench: name}
				cmd := exec.CommandContext(ctx, filepath.Join(tree, benchFile(i+1)), m.args()...)
				cmd.Dir = tree
				out, err := cmd.Output()
				if err != nil {
					return nil, said(err)
				}
				v, err := m.read(out)
				if err != nil {
					return nil, err
				}
				if pass == 0 {
					least[b] = append(least[b], v)
				}
				least[b][i] = min(least[b][i], v)
			}
		}
	}
	var figures []float64
	for _, each := range least {
		figures = append(figures, median(each))
	}
	return figures, nil
}

// A Guard is what one commit's code of a short message takes.
type Guard struct {
	Path       float64 `json:"path_ns"`       // BenchmarkPath: a message of 8 bytes there and back, both ends on one thread
	Arithmetic float64 `json:"arithmetic_ns"` // BenchmarkArithmetic: the same on every commit
	Ratio      float64 `json:"ratio"`
	Limit      float64 `json:"limit"`
}

// Limit is the greatest ratio of a commit that may be released. 07916bb had 1.45 to 1.52, and b515097, before the short
// way of a receive, 2.1.
const Limit = 1.65

// Watch measures the working tree of a directory, whose benchmarks it links there and removes.
func Watch(ctx context.Context, dir string) (g Guard, err error) {
	if dir, err = filepath.Abs(dir); err != nil {
		return g, err
	}
	defer func() {
		for i := range layouts {
			err = errors.Join(err, os.Remove(filepath.Join(dir, benchFile(i+1))))
		}
	}()
	if err := buildBenchmarks(ctx, dir); err != nil {
		return g, err
	}
	v, err := measureBenchmarks(ctx, dir, "BenchmarkPath", "BenchmarkArithmetic")
	if err != nil {
		return g, err
	}
	return Guard{v[0], v[1], v[0] / v[1], Limit}, nil
}
