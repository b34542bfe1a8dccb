//go:build linux

package launch_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"weft/internal/launch"
	"weft/internal/waitgraph"
)

// beSocket listens on a name like a launcher's, and answers in a way of its own.
func beSocket(how string) {
	l, err := net.Listen("unix", fmt.Sprintf("@weft-job-%d-%d-0", os.Getuid(), os.Getpid()))
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	if how == "crowd" {
		crowd()
	}
	fmt.Println("listens")
	for {
		c, err := l.Accept()
		if err != nil {
			os.Exit(1)
		}
		switch how {
		case "endless":
			_, err = io.WriteString(c, `{"Program":"`)
			for x := strings.Repeat("x", 1<<16); err == nil; {
				_, err = io.WriteString(c, x)
			}
		case "hostile":
			_, _ = fmt.Fprintf(c, `{"PID":%d,"Program":"\u001b[2Jrm","Args":["\u009b31m"],"Ranks":[`+
				`{"Rank":-7,"Host":"\u001b]0;","Waits":[{"For":"receive","Rank":-9,"Seconds":9},{"For":"barrier","ID":1,"Rank":99999}],`+
				`"Objects":[{"What":"barrier","ID":1,"Members":[-4,5,70000]}]}]}`, os.Getpid())
		case "silent":
			continue
		}
		c.Close()
	}
}

// crowd makes thousands of sockets with names like those of the parent's launcher. At every other one it listens.
func crowd() {
	for i := range 4000 {
		fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0)
		if err == nil {
			err = unix.Bind(fd, &unix.SockaddrUnix{Name: fmt.Sprintf("@weft-job-%d-%d-crowd%d", os.Getuid(), os.Getppid(), i)})
		}
		if err == nil && i%2 == 0 {
			err = unix.Listen(fd, 1)
		}
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
	}
}

// as starts this executable in a mode, as another user if uid is not 0.
func as(t *testing.T, uid int, mode string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	if uid != 0 {
		dir := t.TempDir()
		text, err := os.ReadFile(self)
		if err != nil {
			t.Fatal(err)
		}
		cmd.Path = filepath.Join(dir, "self")
		if err := errors.Join(os.WriteFile(cmd.Path, text, 0o755), os.Chmod(dir, 0o755),
			os.Chmod(filepath.Dir(dir), 0o755)); err != nil {
			t.Fatal(err)
		}
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(uid)}}
		cmd.Dir = "/"
	}
	cmd.Env = append(os.Environ(), envMode+"="+mode)
	return cmd
}

// fake starts a process that pretends to be a launcher, and returns its number.
func fake(t *testing.T, uid int, how string) int {
	t.Helper()
	cmd := as(t, uid, "socket "+how)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "listens\n" {
		t.Fatal(line, err)
	}
	return cmd.Process.Pid
}

// What claims to be a job is not believed: an answer has an end, what a terminal could
// mistake for orders is taken out, and numbers that cannot be do no harm.
func TestHostileJobs(t *testing.T) {
	endless := fake(t, 0, "endless")
	waitFor(t, func() bool { // a loaded machine may not reach the limit within the time for an answer
		_, err := launch.Jobs(endless)
		return err != nil && strings.Contains(err.Error(), "longer than")
	})
	jobs, err := launch.Jobs(fake(t, 0, "hostile"))
	if err != nil || len(jobs) != 1 {
		t.Fatalf("%v %v", jobs, err)
	}
	var s strings.Builder
	fmt.Fprintln(&s, jobs[0].Program, jobs[0].Args)
	if err := waitgraph.New(jobs[0].Ranks).WriteText(&s); err != nil || strings.ContainsAny(s.String(), "\x1b\u009b") {
		t.Errorf("%q %v", &s, err)
	}
}

// Jobs that do not answer are all asked at once, so they cost one deadline together.
func TestSilentJobs(t *testing.T) {
	const silent = 12
	var asked sync.WaitGroup
	for i := range silent {
		l, err := net.Listen("unix", fmt.Sprintf("@weft-job-%d-%d-silent%d", os.Getuid(), os.Getpid(), i))
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		asked.Add(1)
		go func() {
			c, err := l.Accept()
			asked.Done()
			if err != nil {
				return
			}
			asked.Wait() // none hangs up before the last is asked
			c.Close()
		}()
	}
	if _, err := launch.Jobs(os.Getpid()); err == nil || !strings.Contains(err.Error(), "does not answer: EOF") {
		t.Errorf("%v", err)
	}
}

// A job that never answers is given up.
func TestSilentJob(t *testing.T) {
	t.Parallel()
	if _, err := launch.Jobs(fake(t, 0, "silent")); !errors.Is(err, context.DeadlineExceeded) &&
		!errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("%v", err)
	}
}

// What another user calls like a job of ours is not even read, and thousands of such sockets hide no job of ours,
// whether a process listens at them or not.
func TestForeignJobs(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("needs root, to be two users")
	}
	const (
		one   = 65533
		other = 65534
	)
	fake(t, other, "endless")
	fake(t, other, "silent")
	fake(t, other, "crowd")
	for _, want := range []string{"0 jobs, <nil>\n", "1 jobs, <nil>\n"} { // to read the others would be an error
		out, err := as(t, one, "ps").CombinedOutput()
		if err != nil || string(out) != want {
			t.Errorf("%s %v", out, err)
		}
		fake(t, one, "hostile")
	}
}

// A launcher that is out of descriptors for a moment answers later.
func TestControlSocketOutlivesErrors(t *testing.T) {
	j, _, _ := job(t, 1, "deaf")
	r, err := launch.Start(t.Context(), j, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Wait()
	defer r.Kill(0)
	waitFor(t, func() bool { return noted(j, 0, "ready") })
	c := exhaust(t)
	jobs, err := launch.Jobs(os.Getpid())
	for _, f := range c {
		f.Close()
	}
	if err == nil && len(jobs) > 0 {
		t.Fatal("it had descriptors")
	}
	waitFor(t, func() bool {
		jobs, err := launch.Jobs(os.Getpid())
		return err == nil && len(jobs) == 1
	})
}

// exhaust takes all descriptors but those for which Jobs can still call: the listener's
// accept fails.
func exhaust(t *testing.T) (files []*os.File) {
	t.Helper()
	var old unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &old); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Setrlimit(unix.RLIMIT_NOFILE, &old) })
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: 256, Max: old.Max}); err != nil {
		t.Fatal(err)
	}
	for {
		f, err := os.Open("/dev/null")
		if err != nil {
			break
		}
		files = append(files, f)
	}
	for range 2 { // for the list of sockets, and the call
		files[len(files)-1].Close()
		files = files[:len(files)-1]
	}
	return files
}
