//go:build linux

package weft_test

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
)

// The test's executable is also what Launch starts.
func TestMain(m *testing.M) {
	weft.Launched(map[string]func(context.Context, *weft.Proc) error{
		"bereaved": bereaved, "failing": failing, "idle": idle, "talker": talker, "parent": parent, "busy": busy,
		"severed": severed,
	})
	os.Setenv("GORACE", "atexit_sleep_ms=0") // of ranks and guards, or each takes a second to end
	os.Exit(m.Run())
}

func start(t *testing.T, n int, cfg *weft.LaunchConfig) *weft.Job {
	t.Helper()
	job, err := weft.Launch(t.Context(), n, cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { job.Close() })
	return job
}

func await(t *testing.T, job *weft.Job, rank int, text string) {
	t.Helper()
	if err := job.Await(t.Context(), rank, text); err != nil {
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

// TestLaunchKill: the others hear of a rank that is killed, on every transport.
func TestLaunchKill(t *testing.T) {
	for _, cfg := range []weft.LaunchConfig{{Transport: "shm"}, {Transport: "udp"}, {Transport: "tcp"}, {Hosts: 2}} {
		t.Run(fmt.Sprintf("%s %d", cfg.Transport, cfg.Hosts), func(t *testing.T) {
			cfg.Run = "bereaved"
			cfg.Liveness = -1
			var out bytes.Buffer
			cfg.Output = &out
			job := start(t, 3, &cfg)
			await(t, job, 0, "met")
			await(t, job, 2, "met")
			job.Kill(1)
			if status, err := job.Exit(t.Context(), 1); status != 128+9 || err != nil {
				t.Errorf("killed: status %d, %v", status, err)
			}
			if job.Stop(1) || job.Continue(1) || job.Signal(1, syscall.SIGUSR1) {
				t.Error("a dead rank can be stopped")
			}
			if err := job.Wait(t.Context()); err != nil {
				t.Error(err)
			}
			for _, rank := range []int{0, 2} {
				if job.Output(rank) != "met\nrank 1 is gone\n" {
					t.Errorf("rank %d: %q", rank, job.Output(rank))
				}
			}
			if !strings.Contains(out.String(), "[2] rank 1 is gone\n") {
				t.Errorf("%q", &out)
			}
		})
	}
}

// TestLaunchStop: a rank that is stopped does nothing until it is let go on.
func TestLaunchStop(t *testing.T) {
	job := start(t, 1, &weft.LaunchConfig{Run: "talker"})
	await(t, job, 0, "line 0\n")
	if !job.Stop(0) {
		t.Fatal("not stopped")
	}
	stat, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(job.PID(0)), "stat"))
	if err != nil || !bytes.Contains(stat, []byte(") T ")) {
		t.Errorf("%s %v", stat, err)
	}
	job.Signal(0, syscall.SIGUSR1)
	if strings.Contains(job.Output(0), "line 1") {
		t.Error("it went on")
	}
	if !job.Continue(0) {
		t.Error("it ended")
	}
	await(t, job, 0, "line 1\n")
}

func TestLaunchErrors(t *testing.T) {
	job := start(t, 2, &weft.LaunchConfig{Run: "failing"})
	err := job.Wait(t.Context())
	var exit *weft.ExitError
	if !errors.As(err, &exit) || exit.Rank != 1 || exit.Status != 1 || !strings.Contains(exit.Output, "nothing good\n") ||
		!strings.Contains(exit.Output, "as asked") {
		t.Errorf("%v", err)
	}
	if err := job.Await(t.Context(), 0, "anything"); !errors.As(err, &exit) || exit.Rank != 0 {
		t.Errorf("%v", err)
	}
	job = start(t, 1, &weft.LaunchConfig{Run: "unheard of"})
	err = job.Wait(t.Context())
	if err == nil || !strings.Contains(err.Error(), `does not name a function \"unheard of\"`) {
		t.Errorf("%v", err)
	}
	for _, cfg := range []*weft.LaunchConfig{nil, {}, {Run: "idle", Program: "sleep"}, {Program: "./no/such/package"},
		{Program: "no-such-command"}} {
		if _, err := weft.Launch(t.Context(), 1, cfg); err == nil {
			t.Errorf("%+v was launched", cfg)
		}
	}
	if _, err := weft.Launch(t.Context(), 0, &weft.LaunchConfig{Run: "idle"}); !errors.Is(err, weft.ErrRank) {
		t.Errorf("no ranks: %v", err)
	}
}

// TestLaunchProgram: a Go package is built, and nothing of it is left.
func TestLaunchProgram(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	job := start(t, 2, &weft.LaunchConfig{Program: "./examples/hello"})
	if err := job.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	await(t, job, 0, "rank 0 of 2 received: hello from rank 1\n")
	job.Close()
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

// TestLaunchEnds: the end of the context, and Close, leave nothing behind.
func TestLaunchEnds(t *testing.T) {
	for _, how := range []string{"close", "context"} {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		job, err := weft.Launch(ctx, 2, &weft.LaunchConfig{Run: "parent"})
		if err != nil {
			t.Fatal(err)
		}
		defer job.Close()
		pids := []int{job.PID(0), job.PID(1)}
		for rank := range 2 {
			await(t, job, rank, "idle")
			var child int
			if _, err := fmt.Sscanf(job.Output(rank), "child %d.", &child); err != nil {
				t.Fatal(err)
			}
			pids = append(pids, child)
		}
		job.Stop(1)
		want := context.Canceled
		if how == "close" {
			want = weft.ErrClosed
			job.Close()
		} else {
			cancel()
		}
		if err := job.Wait(t.Context()); !errors.Is(err, want) {
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
		job := start(t, 2, &weft.LaunchConfig{Run: "busy", Transport: transport})
		await(t, job, 0, "idle")
		for _, want := range []string{
			"a message from 1 (channel 3)", "room at 1, or its acknowledgement (1048576 bytes, channel 3)",
			`region "palace" of 1 (to be exposed)`, `mailbox "letters" of 1 (to be exposed)`,
			`barrier "together", phase 1: needs 1`,
		} {
			waittest.Until(t, fmt.Sprintf("over %s, %q in %s", transport, want, job.Waits()),
				func() bool { return strings.Contains(job.Waits(), want) })
		}
		job.Close()
	}
}

// TestLaunchWaits: what the ranks wait for can be asked.
func TestLaunchWaits(t *testing.T) {
	job := start(t, 3, &weft.LaunchConfig{Run: "bereaved"})
	await(t, job, 0, "met")
	await(t, job, 2, "met")
	waittest.Until(t, "a message from 1", // which is told when it has polled for a while
		func() bool { return strings.Contains(job.Waits(), "a message from 1") })
	job.Kill(1)
	if err := job.Wait(t.Context()); err != nil {
		t.Error(err)
	}
}
