//go:build linux

package launch_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"weft"
	"weft/internal/launch"
	"weft/internal/waittest"
)

// note leaves a word that the test waits for.
func note(rank int, word string, value int) {
	path := filepath.Join(os.Getenv(envDir), fmt.Sprintf("%d.%s", rank, word))
	os.WriteFile(path+".new", []byte(strconv.Itoa(value)), 0o600)
	os.Rename(path+".new", path)
}

// awaitNote waits, in a rank, for a word of another one.
func awaitNote(rank int, word string) {
	name := filepath.Join(os.Getenv(envDir), fmt.Sprintf("%d.%s", rank, word))
	waittest.Poll(func() bool { _, err := os.Stat(name); return err == nil })
}

func path(j launch.Job, rank int, word string) string {
	for _, e := range j.Env {
		if dir, ok := strings.CutPrefix(e, envDir+"="); ok {
			return filepath.Join(dir, fmt.Sprintf("%d.%s", rank, word))
		}
	}
	panic("no directory")
}

func noted(j launch.Job, rank int, word string) bool {
	_, err := os.Stat(path(j, rank, word))
	return err == nil
}

func number(t *testing.T, j launch.Job, rank int, word string) int {
	waitFor(t, func() bool { return noted(j, rank, word) })
	text, err := os.ReadFile(path(j, rank, word))
	n, convErr := strconv.Atoi(string(text))
	if err != nil || convErr != nil {
		t.Fatalf("%q: %v %v", text, err, convErr)
	}
	return n
}

func pidOf(t *testing.T, j launch.Job, rank int) int   { return number(t, j, rank, "pid") }
func childOf(t *testing.T, j launch.Job, rank int) int { return number(t, j, rank, "child") }

// waitFor waits for what another process does and cannot tell us of.
func waitFor(t *testing.T, cond func() bool) {
	t.Helper()
	waittest.Until(t, "what another process does", cond)
}

// beLauncher runs a job until it is killed.
func beLauncher() {
	self, _ := os.Executable()
	n := 3
	if text := os.Getenv("LAUNCH_TEST_N"); text != "" {
		n, _ = strconv.Atoi(text)
	}
	_, err := launch.Run(context.Background(), launch.Job{
		Program: self, N: n, Report: os.Stderr,
		Env: []string{envMode + "=" + cmp.Or(os.Getenv("LAUNCH_TEST_RANKS"), "parents")},
	}, nil)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	os.Exit(1)
}

const linesEach = 200

// beParent starts a process, notes its number, and waits for ever.
func beParent(rank int) error {
	child := exec.Command("sleep", "1000")
	if err := child.Start(); err != nil {
		return err
	}
	note(rank, "child", child.Process.Pid)
	select {}
}

// leaveTalker leaves a process, in a session of its own, that goes on writing.
func leaveTalker() error {
	child := exec.Command("sh", "-c", "while echo it goes on; do :; done")
	child.Stdout = os.Stdout
	child.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	return child.Start()
}

// beRank is the main function of a rank.
func beRank(mode string) {
	word, arg, _ := strings.Cut(mode, " ")
	weft.Main(func(ctx context.Context, p *weft.Proc) error {
		note(p.Rank(), "pid", os.Getpid())
		switch word {
		case "hello":
			fmt.Printf("rank %d of %d\n", p.Rank(), p.Size())
			return nil
		case "exit", "error", "panic", "kill":
			return fail(ctx, p, word)
		case "counted":
			return counted(ctx, p)
		case "victim":
			return victim(ctx, p, arg)
		case "timeline":
			return timelineRank(ctx, p, arg)
		case "signals":
			ch := make(chan os.Signal, 1)
			signal.Notify(ch, syscall.SIGUSR1)
			note(p.Rank(), "ready", 1)
			fmt.Println(<-ch)
			return nil
		case "deaf":
			signal.Ignore(os.Interrupt, syscall.SIGTERM)
			note(p.Rank(), "ready", 1)
			select {}
		case "interrupted": // each makes something else of it
			note(p.Rank(), "ready", 1)
			<-ctx.Done()
			if p.Rank() == 0 {
				return nil
			}
			return ctx.Err()
		case "asleep":
			signal.Reset(os.Interrupt)
			note(p.Rank(), "ready", 1)
			select {}
		case "survive":
			return outlive(ctx, p, arg)
		case "miss":
			return miss(ctx, p, arg)
		case "again":
			return again(ctx, p, arg)
		case "lines":
			for i := range linesEach {
				fmt.Printf("line %d %s.\n", i, strings.Repeat(strconv.Itoa(p.Rank()), i*10))
			}
			return nil
		case "echo":
			text, err := io.ReadAll(os.Stdin)
			if len(text) > 0 {
				fmt.Printf("%d: %s\n", p.Rank(), text)
			}
			return err
		case "parents": // of processes that the launcher does not know
			return beParent(p.Rank())
		case "talker":
			return leaveTalker()
		case "post":
			return post(ctx, p, arg)
		case "vmmc":
			return neighbours(ctx, p)
		case "vmmc-killed":
			return bereft(ctx, p)
		case "match":
			return survivor(ctx, p)
		case "heir":
			return heir(ctx, p, arg)
		case "mourn":
			return mourn(ctx, p, arg)
		case "barrier":
			return barrier(ctx, p, arg)
		case "deadlock":
			return deadlock(ctx, p)
		case "agreed":
			return agreed(ctx, p)
		case "ring":
			return ring(ctx, p, 200)
		}
		return fmt.Errorf("what is %q?", mode)
	})
}

// fail lets rank 1 fail and the others wait for it.
func fail(ctx context.Context, p *weft.Proc, how string) error {
	q, err := p.OpenPort(1, nil)
	if err != nil {
		return err
	}
	if p.Rank() != 1 {
		_, err := q.RecvFrom(ctx, 1)
		return err
	}
	return end(how)
}

// outlive lets rank 1 die or fail, and rank 0 end well when it has.
func outlive(ctx context.Context, p *weft.Proc, how string) error {
	q, err := p.OpenPort(1, nil)
	if err != nil {
		return err
	}
	if p.Rank() == 1 {
		if err := hear(ctx, q, 2); err != nil {
			return err
		}
		if how == "exit" {
			os.Exit(7)
		}
		return syscall.Kill(os.Getpid(), syscall.SIGKILL)
	}
	if err := q.Send(ctx, 1, nil); err != nil {
		return err
	}
	if _, err := q.RecvFrom(ctx, 1); !errors.Is(err, weft.ErrPeer) {
		return err
	}
	switch {
	case how == "stuck":
		_, err = q.RecvFrom(ctx, 2-p.Rank())
		return err
	case how == "none":
		return syscall.Kill(os.Getpid(), syscall.SIGKILL)
	case how == "both" && p.Rank() == 2:
		return errors.New("as asked")
	}
	return nil
}

// miss lets rank 1 fail in some way, and all others fail at once for that.
func miss(ctx context.Context, p *weft.Proc, how string) error {
	q, err := p.OpenPort(1, nil)
	if err != nil {
		return err
	}
	if p.Rank() != 1 {
		if err := q.Send(ctx, 1, nil); err != nil {
			return err
		}
		_, err := q.RecvFrom(ctx, 1)
		return err
	}
	if err := hear(ctx, q, p.Size()-1); err != nil {
		return err
	}
	return end(how)
}

// end ends a rank in some way.
func end(how string) error {
	switch how {
	case "exit":
		os.Exit(7)
	case "panic":
		go func() { panic("as asked") }()
		select {}
	case "kill":
		return syscall.Kill(os.Getpid(), syscall.SIGKILL)
	case "stuck": // Main cannot write the error: standard error becomes a pipe that is full
		var fds [2]int
		err := unix.Pipe(fds[:])
		size, _ := unix.FcntlInt(uintptr(fds[1]), unix.F_GETPIPE_SZ, 0)
		if _, wrote := unix.Write(fds[1], make([]byte, size)); err != nil || wrote != nil {
			return errors.Join(err, wrote)
		}
		if err := unix.Dup3(fds[1], 2, 0); err != nil {
			return err
		}
	}
	return errors.New("as asked")
}

// hear receives n messages.
func hear(ctx context.Context, q *weft.Port, n int) error {
	for range n {
		m, err := q.Recv(ctx)
		if err != nil {
			return err
		}
		m.Release()
	}
	return nil
}

// victim lets rank 1 be killed, or stop, while the others are blocked on it.
func victim(ctx context.Context, p *weft.Proc, call string) error {
	q, err := p.OpenPort(1, nil)
	if err != nil {
		return err
	}
	if p.Rank() == 1 {
		if _, err := p.OpenRegion(ctx, "memory", 1<<20, nil); err != nil {
			return err
		}
		for from := range p.Size() {
			if from == 1 {
				continue
			}
			m, err := q.RecvFrom(ctx, from)
			if err != nil {
				return err
			}
			m.Release()
		}
		end := syscall.SIGKILL
		if call == "stop" {
			end = syscall.SIGSTOP
		}
		if err := syscall.Kill(os.Getpid(), end); err != nil {
			return err
		}
		<-ctx.Done() // it must not return before the signal is there
		return ctx.Err()
	}
	far, err := p.AttachRegion(ctx, 1, "memory")
	if err != nil {
		return err
	}
	if err := q.Send(ctx, 1, nil); err != nil {
		return err
	}
	var dead *weft.PeerError
	for err == nil {
		switch call {
		case "recv":
			_, err = q.Recv(ctx)
		case "recvfrom", "stop":
			_, err = q.RecvFrom(ctx, 1)
		case "send":
			err = q.Send(ctx, 1, make([]byte, 100000)) // nobody receives it
		case "attach":
			_, err = p.AttachRegion(ctx, 1, "what is not there")
		case "pull":
			err = far.Pull(ctx, make([]byte, 1<<20), 0)
		}
	}
	if !errors.As(err, &dead) || dead.Rank != 1 || !errors.Is(err, weft.ErrPeer) {
		return fmt.Errorf("%s: %w", call, err)
	}
	fmt.Printf("rank %d noticed: %v\n", p.Rank(), err)
	note(p.Rank(), "noticed", 1)
	return nil
}

// ring sends a token around.
func ring(ctx context.Context, p *weft.Proc, times int) error {
	q, err := p.OpenPort(1, nil)
	if err != nil {
		return err
	}
	next := (p.Rank() + 1) % p.Size()
	for i := range times {
		if p.Rank() != 0 || i > 0 {
			m, err := q.Recv(ctx)
			if err != nil {
				return err
			}
			m.Release()
		}
		if err := q.Send(ctx, next, []byte("token")); err != nil {
			return err
		}
	}
	if p.Rank() != 0 {
		return nil
	}
	m, err := q.Recv(ctx)
	if err == nil {
		m.Release()
		fmt.Printf("around %d times\n", times)
	}
	return err
}
