//go:build linux

package launch_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"weft/internal/launch"
	"weft/internal/waittest"
)

// The test's executable is also its ranks, its launcher to be killed, and its guard.
func TestMain(m *testing.M) {
	launch.Guarded()
	switch mode := os.Getenv(envMode); {
	case mode == "launcher":
		beLauncher()
	case mode == "ps":
		jobs, err := launch.Jobs(0)
		fmt.Printf("%d jobs, %v\n", len(jobs), err)
	case strings.HasPrefix(mode, "socket "):
		beSocket(strings.TrimPrefix(mode, "socket "))
	case mode == "curious":
		beCurious()
	case mode == "besieged":
		beBesieged()
	case mode != "":
		beRank(mode)
	default:
		os.Setenv("GORACE", "atexit_sleep_ms=0") // of ranks and guards, or each takes a second to end
		os.Exit(m.Run())
	}
}

const (
	envMode = "LAUNCH_TEST_MODE"
	envDir  = "LAUNCH_TEST_DIR" // where ranks leave notes
)

// job returns a job whose ranks run a mode of beRank, and what it writes.
func job(t testing.TB, n int, mode string) (j launch.Job, out, report *bytes.Buffer) {
	out = new(bytes.Buffer)
	report = new(bytes.Buffer)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return launch.Job{
		Program: self, N: n, Stdout: out, Stderr: os.Stderr, Report: report, Grace: time.Second,
		Env: []string{envMode + "=" + mode, envDir + "=" + t.TempDir()},
	}, out, report
}

func run(t *testing.T, j launch.Job, signals <-chan os.Signal) launch.Result {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), waittest.Patience)
	defer cancel()
	result, err := launch.Run(ctx, j, signals)
	if err != nil {
		t.Fatal(err)
	}
	if ctx.Err() != nil {
		t.Fatal("the job did not end by itself")
	}
	return result
}

func TestEverybodySucceeds(t *testing.T) {
	j, out, report := job(t, 4, "hello")
	if r := run(t, j, nil); r.Status != 0 || r.Rank != -1 {
		t.Errorf("%+v: %s", r, report)
	}
	for i := range 4 {
		if !strings.Contains(out.String(), fmt.Sprintf("rank %d of 4\n", i)) {
			t.Errorf("rank %d is not heard: %q", i, out)
		}
	}
}

// When a rank fails the others end, though they wait for it, and the status is
// its.
func TestOneFails(t *testing.T) {
	for _, c := range []struct {
		mode   string
		status int
		cause  string
	}{
		{"exit", 7, "exit status 7"},
		{"error", 1, "exit status 1"},
		{"panic", 2, "exit status 2"},
		{"kill", 128 + 9, "signal: killed"},
	} {
		j, _, report := job(t, 3, c.mode)
		j.Stderr = nil
		r := run(t, j, nil)
		if r.Status != c.status || r.Rank != 1 || r.Cause != c.cause {
			t.Errorf("%s: %+v", c.mode, r)
		}
		if s := report.String(); !strings.Contains(s, "rank 1 on ") || !strings.Contains(s, c.cause) {
			t.Errorf("%s: reported %q", c.mode, s)
		}
	}
}

// Peers that are blocked on a rank that was killed get a PeerError, although no silence counts as a death here, on
// every transport and in every kind of call.
func TestKilledRankIsNoticed(t *testing.T) {
	for _, transport := range []string{"shm", "udp", "tcp"} {
		for _, call := range []string{"recv", "recvfrom", "send", "pull", "attach"} {
			t.Run(transport+" "+call, func(t *testing.T) {
				j, out, report := job(t, 3, "victim "+call)
				j.Transport = transport
				j.Survive = true
				j.Liveness = -1
				r := run(t, j, nil)
				if r.Status != 0 || r.Rank != 1 { // the others end well
					t.Errorf("%+v: %s%s", r, out, report)
				}
				for _, rank := range []int{0, 2} {
					checkNotice(t, out.String(), rank)
				}
			})
		}
	}
}

// silence is the liveness time of jobs in which a rank is stopped. No other rank is silent for so long, on a loaded
// machine either; so that their time costs little, these jobs run beside each other.
const silence = 6 * time.Second

// A rank that is stopped is silent: its peers get a PeerError after the
// liveness time.
func TestStoppedRankIsNoticed(t *testing.T) {
	for _, transport := range []string{"shm", "udp", "tcp"} {
		t.Run(transport, func(t *testing.T) {
			t.Parallel()
			j, out, report := job(t, 2, "victim stop")
			j.Transport = transport
			j.Liveness = silence
			j.Survive = true
			done := make(chan launch.Result, 1)
			go func() { done <- run(t, j, nil) }()
			// Rank 0 ends by itself; rank 1 would stay for ever, so wake it.
			pid := pidOf(t, j, 1)
			waitFor(t, func() bool { return noted(j, 0, "noticed") })
			unix.Kill(pid, unix.SIGKILL)
			r := <-done
			if r.Rank != 1 {
				t.Errorf("%+v: %s", r, report)
			}
			checkNotice(t, out.String(), 0)
			if !strings.Contains(out.String(), "silent") && !strings.Contains(out.String(), "stopped") {
				t.Errorf("rank 0 was told of another end: %s", out)
			}
		})
	}
}

// checkNotice finds the line in which a rank says what it was told.
func checkNotice(t *testing.T, out string, rank int) {
	t.Helper()
	if !strings.Contains(out, fmt.Sprintf("rank %d noticed: ", rank)) {
		t.Errorf("rank %d did not notice: %q", rank, out)
	}
}

func TestSignalsReachTheRanks(t *testing.T) {
	j, out, _ := job(t, 3, "signals")
	signals := make(chan os.Signal, 1)
	done := make(chan launch.Result, 1)
	go func() { done <- run(t, j, signals) }()
	waitFor(t, func() bool { return noted(j, 0, "ready") && noted(j, 1, "ready") && noted(j, 2, "ready") })
	signals <- syscall.SIGUSR1
	if r := <-done; r.Status != 0 {
		t.Errorf("%+v", r)
	}
	if n := strings.Count(out.String(), "user defined signal 1"); n != 3 {
		t.Errorf("%d of 3 ranks heard: %q", n, out)
	}
}

func TestSecondInterruptKills(t *testing.T) {
	j, _, _ := job(t, 2, "deaf")
	signals := make(chan os.Signal, 2)
	done := make(chan launch.Result, 1)
	go func() { done <- run(t, j, signals) }()
	waitFor(t, func() bool { return noted(j, 0, "ready") && noted(j, 1, "ready") })
	signals <- os.Interrupt
	signals <- os.Interrupt
	if r := <-done; r.Status != 128+2 {
		t.Errorf("%+v", r)
	}
}

// The status of a job that a signal to the launcher has ended is the signal's, whatever
// its ranks made of it.
func TestInterruptedStatus(t *testing.T) {
	for _, c := range []struct {
		mode   string
		signal syscall.Signal
	}{{"interrupted", syscall.SIGINT}, {"interrupted", syscall.SIGTERM}, {"asleep", syscall.SIGINT}} {
		j, _, report := job(t, 3, c.mode)
		j.Stderr = nil
		signals := make(chan os.Signal, 1)
		done := make(chan launch.Result, 1)
		go func() { done <- run(t, j, signals) }()
		for rank := range 3 {
			waitFor(t, func() bool { return noted(j, rank, "ready") })
		}
		signals <- c.signal
		if r := <-done; r.Status != 128+int(c.signal) || r.Rank != -1 {
			t.Errorf("%v: %+v %s", c, r, report)
		}
	}
}

// A job that goes on without ranks that a signal has ended succeeds, unless another one
// says that it failed.
func TestSurvivors(t *testing.T) {
	for _, c := range []struct {
		mode         string
		status, rank int
		report       string
	}{
		{"survive kill", 0, 1, "the others went on without rank 1 and ended well"},
		{"survive exit", 7, 1, "exit status 7; the others go on"},
		{"survive both", 1, 2, "signal: killed; the others go on"},
		{"survive none", 128 + 9, 1, "signal: killed"},
	} {
		j, _, report := job(t, 3, c.mode)
		j.Survive = true
		j.Stderr = nil
		j.Timeout = time.Minute
		if r := run(t, j, nil); r.Status != c.status || r.Rank != c.rank && c.mode != "survive none" ||
			!strings.Contains(report.String(), c.report) {
			t.Errorf("%s: %+v: %s", c.mode, r, report)
		}
	}
}

// The time of a job that goes on without a rank is over: it says so, and what the
// others wait for.
func TestTimeoutOfSurvivors(t *testing.T) {
	j, _, report := job(t, 3, "survive stuck")
	j.Survive = true
	j.Timeout = 4 * time.Second // in which rank 1 must have ended
	if r := run(t, j, nil); r.Status != 124 || !strings.Contains(report.String(), "time is over: 4s") ||
		!strings.Contains(report.String(), "ended: signal: killed") {
		t.Errorf("%+v: %s", r, report)
	}
}

// A rank that has failed is named as the cause, however it ended, also if ranks that missed it were found to
// have ended before; and it is named again behind what the others wrote.
func TestCauseIsNamed(t *testing.T) {
	for _, c := range []struct {
		how    string
		status int
		why    string
	}{
		{"kill", 128 + 9, "signal: killed"},
		{"exit", 7, "exit status 7"},
		{"panic", 2, "exit status 2: panic: as asked"},
		{"error", 1, "exit status 1: weft: rank 1: as asked"},
		{"stuck", 1, "it failed: as asked"}, // the launcher ends it
	} {
		for _, transport := range []string{"shm", "tcp"} {
			j, _, report := job(t, 6, "miss "+c.how)
			j.Transport = transport
			j.Stderr = new(bytes.Buffer)
			j.Grace = time.Minute // a busy machine may need it
			if r := run(t, j, nil); r.Rank != 1 || r.Status != c.status {
				t.Fatalf("%s, %s: %+v: %s", c.how, transport, r, report)
			}
			lines := strings.Split(strings.TrimSpace(report.String()), "\n")
			if len(lines) > 1 && lines[len(lines)-1] != "weft run: rank 1 was the first to fail: "+c.why {
				t.Errorf("%s, %s: %q", c.how, transport, lines)
			}
		}
	}
}

// A launcher with too few descriptors says so, and blames no rank.
func TestTooFewDescriptors(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("sh", "-c", "ulimit -n 40; exec "+self)
	cmd.Env = append(os.Environ(), envMode+"=launcher", envDir+"="+t.TempDir(), "LAUNCH_TEST_N=30")
	text, _ := cmd.CombinedOutput()
	if s := string(text); !strings.Contains(s, "too many open files: 30 ranks need about") ||
		strings.Contains(s, "killed") || strings.Count(s, "\n") != 1 {
		t.Errorf("%q", s)
	}
}

// A rank that is stopped does not make others look so.
func TestStateBesideAStoppedRank(t *testing.T) {
	j, _, _ := job(t, 3, "deaf")
	signals := make(chan os.Signal)
	r, err := launch.Start(t.Context(), j, signals)
	if err != nil {
		t.Fatal(err)
	}
	for rank := range 3 {
		waitFor(t, func() bool { return noted(j, rank, "ready") })
	}
	r.Stop(0)
	waitFor(t, func() bool { // on a busy machine the others answer late
		ranks := r.Status().Ranks
		return ranks[0].Silent && !ranks[1].Silent && !ranks[2].Silent
	})
	for rank := range 3 {
		r.Kill(rank)
	}
	r.Wait()
}

func TestTimeout(t *testing.T) {
	j, _, report := job(t, 2, "deaf")
	j.Timeout = 200 * time.Millisecond
	j.Grace = 100 * time.Millisecond
	if r := run(t, j, nil); r.Status != 124 || !strings.Contains(report.String(), "200ms") {
		t.Errorf("%+v: %s", r, report)
	}
}

// A signal ends a job whose ranks do not heed it.
func TestDeafRanksAreKilled(t *testing.T) {
	for _, s := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		j, _, report := job(t, 2, "deaf")
		j.Grace = 100 * time.Millisecond
		signals := make(chan os.Signal, 1)
		done := make(chan launch.Result, 1)
		go func() { done <- run(t, j, signals) }()
		waitFor(t, func() bool { return noted(j, 0, "ready") && noted(j, 1, "ready") })
		signals <- s
		if r := <-done; r.Status != 128+int(s) || !strings.Contains(report.String(), "ranks 0, 1 did not end within 100ms") {
			t.Errorf("%v: %+v: %s", s, r, report)
		}
	}
}

// When the launcher is killed nothing is left behind: no rank, and nothing that a
// rank has started. TestKilledCommand of cmd/weft covers the program that it has built.
func TestKilledLauncherLeavesNothing(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), envMode+"=launcher", envDir+"="+dir)
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	notes := launch.Job{Env: []string{envDir + "=" + dir}}
	var pids []int
	for rank := range 3 {
		pids = append(pids, pidOf(t, notes, rank), childOf(t, notes, rank))
	}
	var handles []int
	for _, pid := range pids {
		fd, err := unix.PidfdOpen(pid, 0)
		if err != nil {
			t.Fatalf("process %d: %v", pid, err)
		}
		defer unix.Close(fd)
		handles = append(handles, fd)
	}
	cmd.Process.Kill()
	cmd.Wait()
	for i, fd := range handles {
		poll := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
		if n, err := unix.Poll(poll, 10000); n != 1 {
			t.Errorf("process %d is still there: %v", pids[i], err)
			unix.Kill(pids[i], unix.SIGKILL)
		}
	}
}

// Far more ranks than processors still make progress.
func TestOversubscribed(t *testing.T) {
	j, out, _ := job(t, 12, "ring")
	if r := run(t, j, nil); r.Status != 0 || !strings.Contains(out.String(), "around 200 times") {
		t.Errorf("%+v: %q", r, out)
	}
}
