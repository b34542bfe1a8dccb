package compare

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Builds are the programs of two commits, each in a git worktree of its own.
type Builds struct {
	dir   string    // holds everything; removed by Close
	repo  string    // whose worktrees they are
	trees [2]string // by Side
}

// Build builds two commits of the repository in a directory: what weftlab perf is, and the benchmarks. The caller
// closes the builds.
func Build(ctx context.Context, repo, old, new string, bench bool) (b *Builds, err error) {
	dir, err := os.MkdirTemp("", "weft-compare-")
	if err != nil {
		return nil, err
	}
	b = &Builds{dir: dir, repo: repo}
	defer func() {
		if err != nil {
			err = errors.Join(err, b.Close())
		}
	}()
	for side, commit := range []string{old, new} {
		tree := filepath.Join(dir, Side(side).String())
		if err := run(ctx, repo, "git", "worktree", "add", "--quiet", "--detach", tree, commit); err != nil {
			return b, err
		}
		b.trees[side] = tree
		pkg := "./lab/cmd/weftlab"
		if _, err := os.Stat(filepath.Join(tree, pkg)); err != nil {
			pkg = "./cmd/weft" // before there was a laboratory
		}
		if err := run(ctx, tree, "go", "build", "-o", perfFile, pkg); err != nil {
			return b, err
		}
		if !bench {
			continue
		}
		if err := buildBenchmarks(ctx, tree); err != nil {
			return b, err
		}
	}
	return b, nil
}

// perfFile is the program that measures, in a worktree; see benchFile.
const perfFile = "compare.perf"

// Measure runs a measurement of one side.
func (b *Builds) Measure(ctx context.Context, side Side, m Measurement) (float64, error) {
	if m.Perf == "" {
		figures, err := measureBenchmarks(ctx, b.trees[side], m.Bench)
		if err != nil {
			return 0, err
		}
		return figures[0], nil
	}
	cmd := exec.CommandContext(ctx, filepath.Join(b.trees[side], perfFile), m.args()...)
	cmd.Dir = b.trees[side]
	out, err := cmd.Output()
	if err != nil {
		return 0, said(err)
	}
	return m.read(out)
}

// Close removes the worktrees and the programs.
func (b *Builds) Close() error {
	var errs []error
	for _, tree := range b.trees {
		if tree != "" {
			errs = append(errs, run(context.Background(), b.repo, "git", "worktree", "remove", "--force", tree))
		}
	}
	return errors.Join(append(errs, os.RemoveAll(b.dir))...)
}

// run runs a command in a directory.
func run(ctx context.Context, dir, name string, args ...string) error {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	if _, err := cmd.Output(); err != nil {
		return fmt.Errorf("%s %s: %w", name, strings.Join(args[:2], " "), said(err))
	}
	return nil
}

// said returns the error with what the program wrote to standard error.
func said(err error) error {
	exit := new(exec.ExitError)
	if errors.As(err, &exit) && len(exit.Stderr) > 0 {
		return fmt.Errorf("%w: %s", err, strings.TrimSpace(string(exit.Stderr)))
	}
	return err
}
