//go:build linux

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"weft/internal/cli"
	"weft/internal/explore"
	"weft/internal/programtest"
)

const envCommand = "WEFT_TEST_COMMAND"

// programs is a directory with the programs that tests have built.
var programs string

// The test's executable is also the command, and whatever the command starts.
func TestMain(m *testing.M) {
	if os.Getenv(envCommand) != "" || os.Getenv("WEFT_RUN_GUARD") != "" {
		main()
		return
	}
	dir, err := os.MkdirTemp("", "weftlab-test-")
	if err != nil {
		panic(err)
	}
	programs = dir
	os.Setenv("PATH", programs+":"+os.Getenv("PATH")) // weftlab lab finds weft there
	status := m.Run()
	os.RemoveAll(programs)
	os.Exit(status)
}

var building sync.Mutex

// program returns the file of a program, which is built once for all tests.
func program(t *testing.T, pkg string) string {
	t.Helper()
	building.Lock()
	defer building.Unlock()
	file := filepath.Join(programs, path.Base(pkg))
	if !exists(file) {
		programtest.Make(t, programs, pkg)
	}
	return file
}

// weftlab runs the command and returns what it printed, and its exit status.
func weftlab(t *testing.T, args ...string) (stdout, stderr string, status int) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return runProgram(t, self, args...)
}

// runWeft runs weft likewise.
func runWeft(t *testing.T, args ...string) (stdout, stderr string, status int) {
	t.Helper()
	return runProgram(t, program(t, "weft/cmd/weft"), args...)
}

func runProgram(t *testing.T, file string, args ...string) (stdout, stderr string, status int) {
	t.Helper()
	cmd := exec.Command(file, args...)
	cmd.Env = append(os.Environ(), envCommand+"=1", "GORACE=atexit_sleep_ms=0")
	var out, errs bytes.Buffer
	cmd.Stdout = &out
	cmd.Stderr = &errs
	var exit *exec.ExitError
	if err := cmd.Run(); errors.As(err, &exit) {
		status = exit.ExitCode()
	} else if err != nil {
		t.Fatal(err)
	}
	return out.String(), errs.String(), status
}

// What is wrong is said in one line that tells what would be right.
func TestMistakes(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"perf latency -nn", "not defined: -nn; weftlab perf latency -h lists the flags"},
		{"perf latency -beside -1", "must be a number from 0"},
		{"perf lock -beside 2000000000", "must be a number from 0"},
		{"perf sleep", "there are latency, bandwidth"},
		{"perf latency -size much", "must be numbers"},
		{"perf latency -op put -size 257", "takes up to 256 bytes"},
		{"perf latency -vs corba", "there are tcp, unix"},
		{"perf match -rounds 0", "must be at least 1"},
		{"perf logp -way corba", "there are send, push, am"},
		{"perf logp -size 12", "must be a multiple of 8"},
		{"perf libraries -rounds 0", "must be at least 1"},
		{"perf buffers -n 1", "must be numbers from 2"},
		{"perf match cg", "Flags begin with -"},
		{"targets -only what", `no target "what"`},
		{"compare HEAD", "which two commits?"},
		{"compare -rounds 0 HEAD HEAD", "must be at least 1"},
		{"compare -only what HEAD HEAD", `no measurement "what"`},
		{"compare -only send8 nowhere HEAD", "nowhere"},
		{"targets -rounds 0", "must be at least 1"},
		{"targets -write -only send8", "without -only"},
		{"sim -seeds 3 ../../../examples/hello", "weft sim runs programs"},
		{"sim -seed 1 -only rope", `no scene "rope"`},
		{"sim paper -table x", "there are pmethernet, dimmnet, lanai, rhinet, pinning and all"},
		{"sim map -n 0", "a network has 1 to 4096 hosts, not 0"},
		{"sim map -topology torus:8", `there is no kind "torus" of network: there are switch-tree`},
		{"sim map -topology file:nowhere", "no such file"},
		{"sim map -n 8 -from x", "there is no such host; the first is h0"},
		{"sim map -n 8 -fail s9:1", `there is no switch "s9"`},
		{"sim map -n 8 -fail 99", "the network has 8 links"},
		{"sim map -n 8 x", "one argument too many"},
		{"amt advice", `did you mean "advise"?`},
		{"amt advise", "which trace?"},
		{"amt advise no-such-trace", "no such file"},
		{"amt advise main_test.go", "line 1 of the trace: it is no head of a part"},
		{"amt table", "where are the traces?"},
		{"amt table -run -only ep", `no benchmark "ep"`},
		{"amt chart -n 1", "from 2 to"},
	} {
		stderr, status := programtest.Said(t, func() int { return cli.Do(command(), strings.Fields(c.args)) })
		if status != 1 || !strings.Contains(stderr, c.want) || strings.Count(stderr, "\n") != 1 {
			t.Errorf("weftlab %s: status %d, %q, want %q", c.args, status, stderr, c.want)
		}
	}
}

func TestHelp(t *testing.T) {
	for _, args := range []string{"help", "perf -h", "targets -h", "compare -h", "perf logp -h", "perf libraries -h", "perf buffers -h", "perf flow -h",
		"sim -h", "sim paper -h", "sim map -h", "lab -h", "stress -h", "amt -h", "amt advise -h",
		"amt table -h", "amt chart -h"} {
		stderr, status := programtest.Said(t, func() int { return cli.Do(command(), strings.Fields(args)) })
		if status != 0 || !strings.Contains(stderr, "USAGE") || len(args) > 4 && !strings.Contains(stderr, "EXAMPLES") {
			t.Errorf("weftlab %s: status %d: %q", args, status, stderr)
		}
	}
}

func TestPerfMatchJSON(t *testing.T) {
	if explore.Round() == 0 {
		t.Skip("it measures 12 patterns: WEFT_EXPLORE=1")
	}
	out, stderr, status := weftlab(t, "perf", "match", "-n", "4", "-rounds", "1", "-json")
	if status != 0 {
		t.Fatal(stderr)
	}
	patterns := map[string]bool{}
	for line := range strings.Lines(out) {
		var r struct {
			Test, Pattern, Queue string
			Ratio                float64
		}
		if err := json.Unmarshal([]byte(line), &r); err != nil || r.Test != "match" || r.Queue == "" || r.Ratio < 1 {
			t.Errorf("%q: %v", line, err)
		}
		patterns[r.Pattern] = true
	}
	if !patterns["LU"] || len(patterns) != 12 {
		t.Errorf("patterns: %v", patterns)
	}
}

func TestPerfJSON(t *testing.T) {
	out, stderr, status := weftlab(t, "perf", "latency", "-size", "8", "-rounds", "1", "-blocked", "-vs", "unix", "-json")
	if status != 0 {
		t.Fatal(stderr)
	}
	var systems []string
	for line := range strings.Lines(out) {
		var r map[string]any
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		for _, key := range []string{"test", "system", "op", "size", "n", "p50_us", "p99_us", "p999_us"} {
			if r[key] == nil {
				t.Errorf("no %s in %s", key, line)
			}
		}
		systems = append(systems, r["system"].(string))
	}
	if strings.Join(systems, " ") != "weft unix" {
		t.Errorf("systems: %v", systems)
	}
}
