//go:build linux

package launch_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"weft/internal/launch"
)

func TestBuild(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	for _, c := range []struct{ pkg, want string }{
		{"../../mpi", "no package main"}, {"./no/such", "no/such"}, {"../../examples/hello", "enough"},
	} {
		if c.want == "enough" {
			cancel(errors.New("enough"))
		}
		if _, _, err := launch.Resolve(ctx, c.pkg); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.pkg, err)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(temp, "weft-run-*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// Lines of different ranks do not mix, however long they are.
func TestPrefix(t *testing.T) {
	j, out, _ := job(t, 4, "lines")
	j.Prefix = true
	if r := run(t, j, nil); r.Status != 0 {
		t.Fatalf("%+v", r)
	}
	count := make([]int, 4)
	for line := range strings.Lines(out.String()) {
		var rank, n int
		rest, ok := strings.CutPrefix(line, "[")
		if _, err := fmt.Sscanf(rest, "%d] line %d ", &rank, &n); !ok || err != nil {
			t.Fatalf("line %q", line[:min(len(line), 80)])
		}
		if n != count[rank] || !strings.HasSuffix(line, strings.Repeat(strconv.Itoa(rank), n*10)+".\n") {
			t.Fatalf("rank %d: line %d is damaged", rank, n)
		}
		count[rank]++
	}
	for rank, n := range count {
		if n != linesEach {
			t.Errorf("rank %d: %d lines of %d", rank, n, linesEach)
		}
	}
}

func TestStdinGoesToRank0(t *testing.T) {
	j, out, _ := job(t, 3, "echo")
	j.Stdin = strings.NewReader("to whom it may concern")
	if r := run(t, j, nil); r.Status != 0 || out.String() != "0: to whom it may concern\n" {
		t.Errorf("%+v: %q", r, out)
	}
}

func TestProgramThatIsNotThere(t *testing.T) {
	j, _, _ := job(t, 3, "hello")
	j.Program = filepath.Join(t.TempDir(), "missing")
	if _, err := launch.Run(t.Context(), j, nil); err == nil || !strings.Contains(err.Error(), "missing") {
		t.Errorf("%v", err)
	}
}

// Programs that are not weft's are run, too, without a word about it.
func TestOtherPrograms(t *testing.T) {
	j, _, report := job(t, 8, "")
	j.Program = "/bin/true"
	j.Args = nil
	if r := run(t, j, nil); r.Status != 0 || report.Len() > 0 {
		t.Errorf("%+v: %s", r, report)
	}
}

// Output that cannot be written is a failure.
func TestOutputIsLost(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip(err)
	}
	defer full.Close()
	j, _, report := job(t, 2, "hello")
	j.Stdout = full
	if r := run(t, j, nil); r.Status != 1 || !strings.Contains(report.String(), "no space left on device") {
		t.Errorf("%+v: %s", r, report)
	}
}
