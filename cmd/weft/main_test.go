//go:build linux

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"

	"weft"
	"weft/internal/cli"
	"weft/internal/programtest"
)

const envCommand = "WEFT_TEST_COMMAND"

// The test's executable is also the command, and whatever the command starts.
func TestMain(m *testing.M) {
	if beRank() {
		weft.Main(exchange)
	}
	if os.Getenv(envCommand) == "" && os.Getenv("WEFT_RUN_GUARD") == "" {
		os.Exit(m.Run())
	}
	main()
}

// weft runs the command and returns what it printed, and its exit status.
func runWeft(t *testing.T, args ...string) (stdout, stderr string, status int) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, args...)
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
	hello := programtest.Make(t, t.TempDir(), "weft/examples/hello")
	for _, c := range []struct{ args, want string }{
		{"rum", `did you mean "run"?`},
		{"xyz", "there are run, k8s, ps, top, view, proxy, sim, perf, info, doctor, version"},
		{"run", "weft run -n 4 ./examples/hello"},
		{"run -n 0 true", "must be from 1 to"},
		{"run -restart -1 true", "must be 0 or more"},
		{"run -nn 4 true", "not defined: -nn; weft run -h lists the flags"},
		{"-nn", "weft -h lists the flags"},
		{"help nothing", "there are run, k8s"},
		{"run -n x true", `"x" for flag -n`},
		{"run -liveness 1ns true", "must be at least 10ms"},
		{"run ../../mpi", "there is no package main in it"},
		{"run -reap perhaps true", "must be on, off or interrupt"},
		{"run -bind-to socket true", "must be part, core or none"},
		{"info -bind-to socket", "must be part, core or none"},
		{"run -n 5000 -bind-to core true", "5000 ranks are more than the"},
		{"run -per-host -1 true", "must not be negative"},
		{"run -x =1 true", "must be NAME=value or NAME"},
		{"run -x WEFT_NO_SUCH_VARIABLE true", "WEFT_NO_SUCH_VARIABLE is not set here"},
		{"run -n 5 -hosts a:2,b:2 true", "5 ranks are more than the 4 slots of the hosts: a:2, b:2"},
		{"run -hosts a -hostfile b true", "which of the two?"},
		{"run -hosts a -pretend 2 true", "without -hosts"},
		{"run -transport ib true", "must be auto, shm, eth, udp, tcp or fabric"},
		{"run -guard rot13 true", "must be checksum, authenticate or encrypt"},
		{"run no-such-program", "no such command in $PATH"},
		{"k8s -n 2", "weft k8s -n 8 -image registry.example/is:1 -- /program"},
		{"k8s -n 2 -- /program", "which image holds the program?"},
		{"k8s -n 2 -image i -name A_B -- /program", "weft k8s -h lists the flags"},
		{"k8s -n 2 -image i -restart 1 -- /program", "-jobset starts all of them again"},
		{"doctor hosts", `what is "hosts"? Flags begin with -`},
		{"doctor -n 300", "must be from 1 to 256"},
		{"doctor -transport ib", "must be auto, shm, eth, udp, tcp or fabric"},
		{"top 1 2", "it takes one job"},
		{"top -json", "-json needs -once"},
		{"top -sort size", "there are rank, host, pid"},
		{"top -interval 0s", "must be more than 0"},
		{"perf latency -nn", "not defined: -nn; weft perf latency -h lists the flags"},
		{"perf sleep", "there are latency, bandwidth, rate"},
		{"perf latency -size much", "must be numbers"},
		{"perf latency -op put -size 257", "takes up to 256 bytes"},
		{"perf rate -op swap", "must be send, push, pull, put"},
		{"perf rate x", "Flags begin with -"},
		{"info -n 0", "must be from 1 to"},
		{"sim -n 5 -topology torus:2x2 " + hello, "torus:2x2 has 4, the job 5"},
		{"sim -link fast " + hello, "it takes BANDWIDTH,DELAY"},
		{"sim -loss 2 " + hello, "from 0 to less than 1"},
		{"run -amt main_test.go true", "no AMT file"},
	} {
		stderr, status := programtest.Said(t, func() int { return cli.Do(command(), strings.Fields(c.args)) })
		if status != 1 || !strings.Contains(stderr, c.want) || strings.Count(stderr, "\n") != 1 {
			t.Errorf("weft %s: status %d, %q, want %q", c.args, status, stderr, c.want)
		}
	}
}

// Each job has a secret of its own.
func TestManifestsHaveFreshSecrets(t *testing.T) {
	seen := map[string]bool{}
	for range 2 {
		out, stderr, status := runWeft(t, "k8s", "-n", "2", "-image", "i", "--", "/bin/hello", "-x", "y")
		if status != 0 || !strings.Contains(out, "\nkind: Job\n") || !strings.Contains(out, `name: "hello"`) {
			t.Fatalf("status %d: %s%s", status, stderr, out)
		}
		_, rest, _ := strings.Cut(out, "\n  secret: \"")
		secret, _, _ := strings.Cut(rest, "\"")
		if len(secret) != 64 || seen[secret] {
			t.Errorf("the secret is %q", secret)
		}
		seen[secret] = true
	}
}

func TestHelp(t *testing.T) {
	for _, args := range []string{"help", "-h", "run -h", "help run", "help perf latency", "perf -h", "perf latency -h",
		"info -h", "doctor -h", "k8s -h", "sim -h"} {
		stderr, status := programtest.Said(t, func() int { return cli.Do(command(), strings.Fields(args)) })
		if status != 0 || !strings.Contains(stderr, "USAGE") || len(args) > 4 && !strings.Contains(stderr, "EXAMPLES") {
			t.Errorf("weft %s: status %d: %q", args, status, stderr)
		}
	}
	if _, stderr, _ := runWeft(t, "help", "run"); !strings.Contains(stderr, "weft run [FLAGS] PROGRAM") {
		t.Errorf("help run: %q", stderr)
	}
	if _, stderr, status := runWeft(t); status != 2 || !strings.Contains(stderr, "USAGE") {
		t.Errorf("weft: status %d: %q", status, stderr)
	}
}

func TestInfo(t *testing.T) {
	out, stderr, status := runWeft(t, "info", "-n", "4", "-pretend", "2", "-json")
	if status != 0 {
		t.Fatal(stderr)
	}
	ranks := 0
	for line := range strings.Lines(out) {
		var r rankInfo
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		ranks++
		if len(r.Peers) != 3 || r.Idle == 0 || r.Process == 0 || r.Waiting == "" {
			t.Errorf("%+v", r)
		}
		for _, p := range r.Peers {
			want := weft.TransportUDP
			if p.Rank%2 == r.Rank%2 {
				want = weft.TransportShm
			}
			guards := map[weft.Transport]string{"shm": "other users", "udp": "damage, forgery, replay"}
			if p.Guards != guards[want] {
				t.Errorf("over %s: guarded against %q", want, p.Guards)
			}
			if guards := map[weft.Transport]weft.Guard{"udp": "authenticate"}; p.Guard != guards[want] ||
				(p.WhyGuard != "") != (want == weft.TransportUDP) {
				t.Errorf("over %s: guard %q, since %q", want, p.Guard, p.WhyGuard)
			}
			if p.Transport != want || p.Why == "" {
				t.Errorf("rank %d reaches rank %d over %s because %q", r.Rank, p.Rank, p.Transport, p.Why)
			}
		}
	}
	if ranks != 4 {
		t.Errorf("%d ranks", ranks)
	}
	if out, _, status := runWeft(t, "info", "-pretend", "2"); status != 0 ||
		!strings.Contains(out, "over udp: authenticate, since 127.0.0.1/8 and") {
		t.Errorf("status %d: %s", status, out)
	}
	if out, _, status := runWeft(t, "info", "-n", "2"); status != 0 ||
		!strings.Contains(out, "same host, so shared memory") {
		t.Errorf("status %d: %s", status, out)
	}
	t.Setenv("WEFT_GUARD", "encrypt")
	for _, transport := range []string{"udp", "tcp"} {
		out, _, status := runWeft(t, "info", "-transport", transport)
		if want := "over " + transport + ": encrypt, since Config.Guard or WEFT_GUARD says so"; status != 0 ||
			!strings.Contains(out, want) {
			t.Errorf("status %d: %s", status, out)
		}
	}
	if out, _, status := runWeft(t, "info", "-env"); status != 0 || !strings.Contains(out, "WEFT_SPIN") {
		t.Errorf("status %d: %s", status, out)
	}
}

func TestPerf(t *testing.T) {
	for _, c := range []struct{ test, op string }{
		{"latency", "send"}, {"latency", "push"}, {"latency", "pull"}, {"rate", "put"}, {"bandwidth", "push"},
	} {
		out, stderr, status := runWeft(t, "perf", c.test, "-op", c.op, "-size", "8", "-json")
		var r perfRow
		if err := json.Unmarshal([]byte(out), &r); err != nil || status != 0 {
			t.Fatalf("status %d: %v: %s%s", status, err, out, stderr)
		}
		if r.Test != c.test || r.Op != c.op || r.Size != 8 || r.Transport != "shm" || r.N == 0 ||
			(r.Median > 0) != (c.test == "latency") || (r.Rate > 0) == (c.test == "latency") {
			t.Errorf("%+v", r)
		}
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	out, stderr, status := runWeft(t, "run", "-n", "2", self, "perf", "latency", "-size", "64")
	if status != 0 || !strings.Contains(out, "send  64     shm") {
		t.Errorf("as ranks of a job: status %d: %s%s", status, out, stderr)
	}
}

func TestRun(t *testing.T) {
	out, stderr, status := runWeft(t, "run", "-n", "2", "-prefix", "sh", "-c", "echo hello")
	if status != 0 || !strings.Contains(out, "[0] hello\n") || !strings.Contains(out, "[1] hello\n") {
		t.Errorf("status %d: %q %q", status, out, stderr)
	}
	_, stderr, status = runWeft(t, "run", "-n", "2", "sh", "-c", "exit 5")
	if status != 5 || !strings.Contains(stderr, "exit status 5") {
		t.Errorf("status %d: %q", status, stderr)
	}
	out, stderr, status = runWeft(t, "run", "-n", "2", "-restart", "2", "sh", "-c",
		"echo run $WEFT_RESTART; test $WEFT_RESTART = 1")
	if status != 0 || !strings.Contains(out, "run 0\n") || !strings.Contains(out, "run 1\n") ||
		!strings.Contains(stderr, "restart 1 of 2\n") {
		t.Errorf("status %d: %q %q", status, out, stderr)
	}
}
