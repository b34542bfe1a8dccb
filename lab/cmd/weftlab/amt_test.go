//go:build linux

package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"weft/lab/advise"
)

// weftOK runs weft, which must succeed.
func weftOK(t *testing.T, args ...string) {
	t.Helper()
	if _, stderr, status := runWeft(t, args...); status != 0 {
		t.Fatalf("weft %s: status %d\n%s", strings.Join(args, " "), status, stderr)
	}
}

// labOK runs weftlab, which must succeed, and returns what it printed.
func labOK(t *testing.T, args ...string) string {
	t.Helper()
	stdout, stderr, status := weftlab(t, args...)
	if status != 0 {
		t.Fatalf("weftlab %s: status %d\n%s", strings.Join(args, " "), status, stderr)
	}
	return stdout
}

// jsonLines reads what -json printed.
func jsonLines[T any](t *testing.T, text string) (rows []T) {
	t.Helper()
	for line := range strings.Lines(text) {
		var r T
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		rows = append(rows, r)
	}
	return rows
}

// example builds an example program.
func example(t *testing.T, name string) string { return program(t, "weft/examples/"+name) }

// A job is recorded, rings are advised from the trace, and the job runs with them.
func TestTraceAdviseRun(t *testing.T) {
	dir := t.TempDir()
	halo := example(t, "halo")
	trace := filepath.Join(dir, "trace")
	table := filepath.Join(dir, "amt")
	weftOK(t, "run", "-n", "5", "-trace", trace, halo)
	weftOK(t, "run", "-n", "4", "-trace", trace, halo) // nothing of the first remains
	text := labOK(t, "amt", "advise", "-budget", "128KiB", "-o", table, trace)
	if !strings.Contains(text, "halo, 4 ranks\n") || !strings.Contains(text, "weft run -n 4 -amt "+table+" halo") {
		t.Error(text)
	}
	for _, m := range jsonLines[advise.Memory](t, labOK(t, "amt", "advise", "-budget", "128KiB", "-json", trace)) {
		if m.Bytes > 128<<10 || m.Partners == 0 || m.Own > m.Partners {
			t.Errorf("%+v", m)
		}
	}
	replayed := labOK(t, "perf", "match", "-rounds", "1", "-trace", trace)
	if strings.Count(replayed, "trace ") != 2 {
		t.Error(replayed)
	}
	weftOK(t, "run", "-n", "4", "-amt", table, halo)
	if _, stderr, status := runWeft(t, "run", "-n", "3", "-amt", table, halo); status != 1 ||
		!strings.Contains(stderr, "for 4 ranks, the job has 3") {
		t.Errorf("status %d, %s", status, stderr)
	}
	t.Setenv("WEFT_AMT", table) // heeded by simulated jobs, too
	weftOK(t, "sim", "-n", "4", halo)
	if _, stderr, status := runWeft(t, "sim", "-n", "3", halo); status != 1 ||
		!strings.Contains(stderr, "for 4 ranks, the job has 3") {
		t.Errorf("status %d, %s", status, stderr)
	}
	if _, stderr, status := weftlab(t, "amt", "advise", "-budget", "1KiB", trace); status != 1 ||
		!strings.Contains(stderr, "one ring takes 4096") {
		t.Errorf("status %d, %s", status, stderr)
	}
}

// A rank that ends without leaving the job takes only its own part with it.
func TestTraceOfADeath(t *testing.T) {
	trace := filepath.Join(t.TempDir(), "trace")
	halo := example(t, "halo")
	_, stderr, status := runWeft(t, "run", "-n", "3", "-survive", "-trace", trace, "sh", "-c", "exit 3")
	if status != 3 {
		t.Fatalf("status %d, %s", status, stderr)
	}
	weftOK(t, "run", "-n", "3", "-trace", trace, halo)
	if err := os.WriteFile(trace+".1", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if text := labOK(t, "amt", "advise", trace); !strings.Contains(text, "1 have left no trace") {
		t.Error(text)
	}
}

// A simulated job leaves one file, which says the same as those of a real one. Table 1 is computed from both kinds.
func TestTraceOfSim(t *testing.T) {
	t.Chdir("../../..") // for amt table -run
	dir := t.TempDir()
	cg := example(t, "nas/cg")
	real := filepath.Join(dir, "real")
	simulated := filepath.Join(dir, "cg")
	weftOK(t, "run", "-n", "4", "-pretend", "4", "-trace", real, cg) // a host each, as simulated ranks have
	weftOK(t, "sim", "-n", "4", "-trace", simulated, cg)
	a := labOK(t, "amt", "advise", "-json", real)
	b := labOK(t, "amt", "advise", "-json", simulated)
	if a != b {
		t.Errorf("real:\n%ssimulated:\n%s", a, b)
	}
	labOK(t, "amt", "table", "-run", "-n", "4", "-class", "S", "-only", "is", "-dir", dir)
	rows := jsonLines[advise.Table1Row](t, labOK(t, "amt", "table", "-class", "S", "-only", "cg,is", "-dir", dir, "-json"))
	if len(rows) != 2 || rows[0].Program != "CG" || rows[0].Partners.Most != 2 || rows[1].Program != "IS" ||
		rows[1].Partners.Most > 1 {
		t.Errorf("%+v", rows)
	}
	// What has no trace is told, and the others are there.
	stdout, stderr, status := weftlab(t, "amt", "table", "-class", "S", "-only", "is,bt", "-dir", dir)
	if status != 1 || !strings.Contains(stderr, "bt: no such file") || !strings.Contains(stdout, "IS ") {
		t.Errorf("status %d\n%s%s", status, stdout, stderr)
	}
}

func TestMemoryChart(t *testing.T) {
	svg := filepath.Join(t.TempDir(), "memory.svg")
	rows := jsonLines[chartRow](t, labOK(t, "amt", "chart", "-n", "8,27,64", "-ring", "4KiB", "-svg", svg, "-json"))
	for i, partners := range []int{3, 6, 6} {
		if r := rows[i]; r.Partners != (advise.Spread{Least: partners, Mode: partners, Ranks: r.Ranks, Most: partners}) ||
			r.Advised.Most != (partners+1)*4096 || r.Dedicated != 4096*r.Ranks {
			t.Errorf("%+v", r)
		}
	}
	if b, err := os.ReadFile(svg); err != nil || !strings.Contains(string(b), "<svg") {
		t.Errorf("%v", err)
	}
}

func TestCube(t *testing.T) {
	for n, want := range map[int][3]int{1: {1, 1, 1}, 7: {1, 1, 7}, 8: {2, 2, 2}, 12: {2, 2, 3}, 16: {2, 2, 4},
		64: {4, 4, 4}, 4096: {16, 16, 16}} {
		if have := cube(n); have != want {
			t.Errorf("%d: %v", n, have)
		}
	}
}

func TestSizes(t *testing.T) {
	for text, want := range map[string]size{"1": 1, "65536": 65536, "64KiB": 64 << 10, "3MiB": 3 << 20, "2GiB": 2 << 30,
		"5B": 5} {
		var s size
		if err := s.Set(text); err != nil || s != want {
			t.Errorf("%s: %d, %v", text, s, err)
		}
	}
	for _, text := range []string{"", "KiB", "0", "-1", "1kB", "1 KiB", "1.5MiB", "9999999999GiB", "64KiBKiB"} {
		var s size
		if err := s.Set(text); err == nil {
			t.Errorf("%s is %d", text, s)
		}
	}
	if text := bytesText(456 << 10); text != "456 KiB" {
		t.Error(text)
	}
}

// The parts of a trace are found by its name, and nothing else is taken for one.
func TestPartsOfATrace(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"t.0", "t.1", "t.10", "t.amt", "t.0.bak", "tt.0", "t."} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	have := partsOf(filepath.Join(dir, "t"))
	for i := range have {
		have[i] = filepath.Base(have[i])
	}
	if !slices.Equal(have, []string{"t.0", "t.1", "t.10"}) {
		t.Error(have)
	}
}
