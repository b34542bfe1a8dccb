package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"weft"
	"weft/internal/bootstrap"
	"weft/internal/counters/directory"
	"weft/internal/top"
	"weft/internal/waittest"
)

// envRank makes the test's executable, where weft run has started it, a rank that exchanges messages
// until it is ended.
const envRank = "WEFT_TEST_RANK"

func beRank() bool { return os.Getenv(envRank) != "" && os.Getenv(bootstrap.Env) != "" }

func exchange(ctx context.Context, p *weft.Proc) error {
	port, err := p.OpenPort(1, nil)
	for err == nil {
		if err = port.Send(ctx, 1-p.Rank(), []byte("hello")); err != nil {
			break
		}
		var m weft.Message
		if m, err = port.Recv(ctx); err == nil {
			m.Release()
		}
	}
	return err
}

// seen waits until weft top shows a job of which something holds.
func seen(t *testing.T, launcher int, what string, holds func(j *top.Job) bool) {
	t.Helper()
	last := ""
	shown := func() bool {
		out, errs, status := runWeft(t, "top", "-once", "-json", "-interval", "10ms", strconv.Itoa(launcher))
		if last = out + errs; status != 0 {
			t.Fatal(errs)
		}
		for line := range strings.Lines(out) {
			var j top.Job
			if err := json.Unmarshal([]byte(line), &j); err != nil {
				t.Fatalf("%v: %s", err, line)
			}
			if j.Launcher == launcher && len(j.Ranks) == 2 && j.Ranks[0].Counts != nil && j.Ranks[1].Counts != nil && holds(&j) {
				return true
			}
		}
		return false
	}
	if !waittest.Poll(shown) {
		t.Fatalf("%s: weft top does not say so: %s", what, last)
	}
}

// TestTop: weft top shows the ranks of a job, what they exchange, and one that is stopped with the rank
// that waits for it.
func TestTop(t *testing.T) {
	t.Setenv(directory.Env, t.TempDir())
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	run := exec.Command(self, "run", "-n", "2", "-liveness", "5m", self)
	run.Env = append(os.Environ(), envCommand+"=1", envRank+"=1", "GORACE=atexit_sleep_ms=0")
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = run.Process.Kill() // if the test has failed; else it has ended
		_ = run.Wait()
	})
	var stopped int
	seen(t, run.Process.Pid, "messages are exchanged", func(j *top.Job) bool {
		stopped = j.Ranks[1].PID
		return j.Size == 2 && j.Ranks[0].Rates != nil && j.Ranks[0].Rates.Sent.Messages > 0 && len(j.Pairs) == 2 &&
			j.Pairs[0].Transport == "shm"
	})
	t.Run("ranks on other hosts", func(t *testing.T) { // whose pages are not to be seen
		t.Setenv(directory.Env, directory.Off)
		seen(t, run.Process.Pid, "ranks say what they count", func(j *top.Job) bool {
			c := j.Ranks[0].Counts
			return j.Ranks[0].State == top.Unknown && c.Sent.Messages > 0 && len(c.Peers) > 0 && j.Ranks[0].Rates != nil
		})
	})
	if err := syscall.Kill(stopped, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	seen(t, run.Process.Pid, "rank 1 is stopped, and rank 0 waits", func(j *top.Job) bool {
		return j.Ranks[1].State == top.Stopped && strings.HasPrefix(j.Ranks[0].Needs, "a message from anyone")
	})
	waittest.Until(t, "the stopped rank alone", func() bool { // on a busy machine the launcher answers late
		out, _, _ := runWeft(t, "top", "-once", "-interval", "0", "-filter", strconv.Itoa(stopped),
			strconv.Itoa(run.Process.Pid))
		return strings.Contains(out, fmt.Sprintf("weft run %d: ", run.Process.Pid)) &&
			strings.Contains(out, " stopped ") && !strings.Contains(out, "\n0  ")
	})
	if err := syscall.Kill(stopped, syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	if err := run.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	_ = run.Wait() // by the signal
	if dirs := directory.Jobs(); len(dirs) > 0 {
		t.Errorf("%q is left", dirs)
	}
}
