//go:build linux

package job_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"weft"
	"weft/internal/waittest"
	"weft/job"
)

// The test's executable is also what Start starts.
func TestMain(m *testing.M) {
	job.Main(map[string]func(context.Context, *weft.Proc) error{
		"bereaved": bereaved, "failing": failing, "idle": idle, "talker": talker, "parent": parent, "busy": busy,
	})
	os.Setenv("GORACE", "atexit_sleep_ms=0") // of ranks and guards, or each takes a second to end
	os.Exit(m.Run())
}

func start(t *testing.T, cfg job.Config) *job.Job {
	t.Helper()
	j, err := job.Start(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { j.Close() })
	return j
}

func await(t *testing.T, j *job.Job, rank int, text string) {
	t.Helper()
	if err := j.Await(t.Context(), rank, text); err != nil {
		t.Fatal(err)
	}
}

// bereaved lets all wait for rank 1, which waits to be killed.
func bereaved(ctx context.Context, p *weft.Proc) error {
	q, err := p.OpenPort(1, nil)
	if err != nil {
		return err
	}
	if p.Rank() == 1 {
		for _, rank := range []int{0, 2} {
			if err := q.Send(ctx, rank, nil); err != nil {
				return err
			}
		}
		return idle(ctx, p)
	}
	m, err := q.RecvFrom(ctx, 1)
	if err != nil {
		return err
	}
	m.Release()
	fmt.Println("met")
	_, err = q.RecvFrom(ctx, 1)
	var gone *weft.PeerError
	if !errors.As(err, &gone) {
		return fmt.Errorf("no PeerError: %w", err)
	}
	fmt.Println("rank", gone.Rank, "is gone")
	return nil
}

func idle(ctx context.Context, p *weft.Proc) error {
	fmt.Println("idle")
	<-ctx.Done()
	return ctx.Err()
}

func failing(ctx context.Context, p *weft.Proc) error {
	if p.Rank() == 1 {
		fmt.Println("nothing good")
		return errors.New("as asked")
	}
	return nil
}

// talker writes a line for each SIGUSR1.
func talker(ctx context.Context, p *weft.Proc) error {
	asked := make(chan os.Signal, 1)
	signal.Notify(asked, syscall.SIGUSR1)
	for i := 0; ; i++ {
		fmt.Println("line", i)
		<-asked
	}
}

// TestKill: the others hear of a rank that is killed, on every transport.
func TestKill(t *testing.T) {
	for _, cfg := range []job.Config{{Transport: "shm"}, {Transport: "udp"}, {Transport: "tcp"}, {Hosts: 2}} {
		t.Run(fmt.Sprintf("%s %d", cfg.Transport, cfg.Hosts), func(t *testing.T) {
			cfg.Ranks = 3
			cfg.Run = "bereaved"
			cfg.Liveness = -1
			var out bytes.Buffer
			cfg.Output = &out
			j := start(t, cfg)
			await(t, j, 0, "met")
			await(t, j, 2, "met")
			j.Kill(1)
			if status, err := j.Exit(t.Context(), 1); status != 128+9 || err != nil {
				t.Errorf("killed: status %d, %v", status, err)
			}
			if j.Stop(1) || j.Continue(1) || j.Signal(1, syscall.SIGUSR1) {
				t.Error("a dead rank can be stopped")
			}
			if err := j.Wait(t.Context()); err != nil {
				t.Error(err)
			}
			for _, rank := range []int{0, 2} {
				if j.Output(rank) != "met\nrank 1 is gone\n" {
					t.Errorf("rank %d: %q", rank, j.Output(rank))
				}
			}
			if !strings.Contains(out.String(), "[2] rank 1 is gone\n") {
				t.Errorf("%q", &out)
			}
		})
	}
}

// TestStop: a rank that is stopped does nothing until it is let go on.
func TestStop(t *testing.T) {
	j := start(t, job.Config{Ranks: 1, Run: "talker"})
	await(t, j, 0, "line 0\n")
	if !j.Stop(0) {
		t.Fatal("not stopped")
	}
	stat, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(j.PID(0)), "stat"))
	if err != nil || !bytes.Contains(stat, []byte(") T ")) {
		t.Errorf("%s %v", stat, err)
	}
	j.Signal(0, syscall.SIGUSR1)
	if strings.Contains(j.Output(0), "line 1") {
		t.Error("it went on")
	}
	if !j.Continue(0) {
		t.Error("it ended")
	}
	await(t, j, 0, "line 1\n")
}

func TestErrors(t *testing.T) {
	j := start(t, job.Config{Ranks: 2, Run: "failing"})
	err := j.Wait(t.Context())
	var exit *job.ExitError
	if !errors.As(err, &exit) || exit.Rank != 1 || exit.Status != 1 || !strings.Contains(exit.Output, "nothing good\n") ||
		!strings.Contains(exit.Output, "as asked") {
		t.Errorf("%v", err)
	}
	if err := j.Await(t.Context(), 0, "anything"); !errors.As(err, &exit) || exit.Rank != 0 {
		t.Errorf("%v", err)
	}
	j = start(t, job.Config{Ranks: 1, Run: "unheard of"})
	err = j.Wait(t.Context())
	if err == nil || !strings.Contains(err.Error(), `does not name a function \"unheard of\"`) {
		t.Errorf("%v", err)
	}
	for _, cfg := range []job.Config{{}, {Run: "idle", Program: "sleep"}, {Program: "./no/such/package"},
		{Program: "no-such-command"}} {
		cfg.Ranks = 1
		if _, err := job.Start(t.Context(), cfg); err == nil {
			t.Errorf("%+v was started", cfg)
		}
	}
	if _, err := job.Start(t.Context(), job.Config{Run: "idle"}); !errors.Is(err, weft.ErrRank) {
		t.Errorf("no ranks: %v", err)
	}
}

// TestBuildError: a Go package that cannot be built is reported with what the compiler says.
func TestBuildError(t *testing.T) {
	files := map[string]string{"go.mod": "module broken\n", "main.go": "package main\n\nfunc main() { x }\n"}
	dir := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
	_, err := job.Start(t.Context(), job.Config{Ranks: 1, Program: "."})
	var build *job.BuildError
	if !errors.As(err, &build) || build.Package != "." || !strings.Contains(build.Said, "undefined: x") {
		t.Errorf("%T: %v", err, err)
	}
}

// TestProgram: a Go package is built, and nothing of it is left.
func TestProgram(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	j := start(t, job.Config{Ranks: 2, Program: "../examples/hello"})
	if err := j.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	await(t, j, 0, "rank 0 of 2 received: hello from rank 1\n")
	j.Close()
	if left, _ := os.ReadDir(os.Getenv("TMPDIR")); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
}

// parent starts a process that would outlive it.
func parent(ctx context.Context, p *weft.Proc) error {
	child, err := os.StartProcess("/bin/sleep", []string{"sleep", "1000"}, &os.ProcAttr{})
	if err != nil {
		return err
	}
	fmt.Printf("child %d.\n", child.Pid)
	return idle(ctx, p)
}

// TestEnds: the end of the context, and Close, leave nothing behind.
func TestEnds(t *testing.T) {
	for _, how := range []string{"close", "context"} {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		j, err := job.Start(ctx, job.Config{Ranks: 2, Run: "parent"})
		if err != nil {
			t.Fatal(err)
		}
		defer j.Close()
		pids := []int{j.PID(0), j.PID(1)}
		for rank := range 2 {
			await(t, j, rank, "idle")
			var child int
			if _, err := fmt.Sscanf(j.Output(rank), "child %d.", &child); err != nil {
				t.Fatal(err)
			}
			pids = append(pids, child)
		}
		j.Stop(1)
		want := context.Canceled
		if how == "close" {
			want = weft.ErrClosed
			j.Close()
		} else {
			cancel()
		}
		if err := j.Wait(t.Context()); !errors.Is(err, want) {
			t.Errorf("%s: %v", how, err)
		}
		for _, pid := range pids {
			// A child is a zombie until its new parent looks.
			waittest.Until(t, fmt.Sprintf("%s: process %d ends", how, pid), func() bool { return !runs(pid) })
		}
	}
}

func runs(pid int) bool {
	stat, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	return err == nil && !bytes.Contains(stat, []byte(") Z "))
}

// busy lets rank 0 wait for rank 1 in many goroutines.
func busy(ctx context.Context, p *weft.Proc) error {
	q, err := p.OpenPort(3, nil)
	if err != nil {
		return err
	}
	if p.Rank() == 1 {
		if err := q.Send(ctx, 0, nil); err != nil {
			return err
		}
		return idle(ctx, p)
	}
	m, err := q.RecvFrom(ctx, 1)
	if err != nil {
		return err
	}
	m.Release()
	for _, f := range []func() error{
		func() error { _, err := q.RecvFrom(ctx, 1); return err },
		func() error { return q.Send(ctx, 1, make([]byte, 1<<20)) },
		func() error { _, err := p.AttachRegion(ctx, 1, "palace"); return err },
		func() error { _, err := p.AttachMailbox(ctx, 1, "letters"); return err },
		func() error { return p.Barrier("together", nil).Wait(ctx) },
	} {
		go f()
	}
	return idle(ctx, p)
}

// TestWaitsOfGoroutines: what each goroutine of a rank waits for is told, in which call.
func TestWaitsOfGoroutines(t *testing.T) {
	for _, transport := range []weft.Transport{weft.TransportShm, weft.TransportUDP} {
		j := start(t, job.Config{Ranks: 2, Run: "busy", Transport: transport})
		await(t, j, 0, "idle")
		for _, want := range []string{
			"a message from 1 (channel 3)", "room at 1, or its acknowledgement (1048576 bytes, channel 3)",
			`region "palace" of 1 (to be exposed)`, `mailbox "letters" of 1 (to be exposed)`,
			`barrier "together", phase 1: needs 1`,
		} {
			if !waittest.Poll(func() bool { return strings.Contains(j.Waits(), want) }) {
				t.Fatalf("%s: no %q in\n%s", transport, want, j.Waits())
			}
		}
		j.Close()
	}
}

// TestWaits: what the ranks wait for can be asked.
func TestWaits(t *testing.T) {
	j := start(t, job.Config{Ranks: 3, Run: "bereaved"})
	await(t, j, 0, "met")
	await(t, j, 2, "met")
	for !strings.Contains(j.Waits(), "a message from 1") { // which is told when it has polled for a while
	}
	j.Kill(1)
	if err := j.Wait(t.Context()); err != nil {
		t.Error(err)
	}
}
