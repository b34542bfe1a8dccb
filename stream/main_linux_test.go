package stream

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"weft/internal/waittest"
)

// children are what this test's executable does as a process of its own.
var children = map[string]func(address string, args []string) error{
	"write":  childWrites,
	"full":   childWithoutDescriptors,
	"user":   childOfAnotherUser,
	"many":   childOfManyConnections,
	"arenas": childOfArenas,
	"poor":   childThatDialsTooOften,
	"bare":   childWithoutMemory,
	"tls":    childOverTLS,

	"generation": childGeneration,
	"activated":  childActivated,
}

func TestMain(m *testing.M) {
	if role := os.Getenv("WEFT_STREAM_CHILD"); role != "" {
		args := os.Args[1:]
		if err := children[role](args[0], args[1:]); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// A child is a process of this test's executable. It ends when its standard input does.
type child struct {
	*exec.Cmd
	lines *bufio.Scanner
	stdin io.WriteCloser
}

// start starts a child.
func start(t *testing.T, role, address string, args ...string) *child {
	t.Helper()
	c := prepare(t, role, address, args...)
	c.run(t)
	return c
}

// prepare returns a child that has not been started.
func prepare(t *testing.T, role, address string, args ...string) *child {
	t.Helper()
	cmd := exec.Command("/proc/self/exe", append([]string{address}, args...)...)
	cmd.Env = append(os.Environ(), "WEFT_STREAM_CHILD="+role)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	return &child{cmd, bufio.NewScanner(out), stdin}
}

// run starts it, until the end of the test.
func (c *child) run(t *testing.T) {
	t.Helper()
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		c.Process.Kill()
		c.Wait()
	})
}

// expect reads a line of the child's output, which must be that.
func (c *child) expect(t *testing.T, want string) {
	t.Helper()
	if !c.lines.Scan() || c.lines.Text() != want {
		t.Fatalf("the child says %q, want %q", c.lines.Text(), want)
	}
}

// stop stops the child, and returns when it is stopped.
func (c *child) stop(t *testing.T) {
	t.Helper()
	if err := c.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	waittest.Until(t, "the child is stopped", func() bool {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", c.Process.Pid))
		if err != nil {
			t.Fatal(err)
		}
		_, state, _ := strings.Cut(string(stat), ") ")
		return strings.HasPrefix(state, "T")
	})
}

func say(format string, args ...any) { fmt.Printf(format+"\n", args...) }

// untilEnd waits for the end of the child's standard input.
func untilEnd() { _, _ = io.Copy(io.Discard, os.Stdin) }

// childWrites writes so many bytes, and then waits to be killed.
func childWrites(address string, args []string) error {
	c, err := Dial(context.Background(), address)
	if err != nil {
		return err
	}
	n, _ := strconv.Atoi(args[0])
	if _, err := c.Write(make([]byte, n)); err != nil {
		return err
	}
	say("written")
	untilEnd()
	return nil
}

// childWithoutDescriptors listens with few descriptors, and accepts what comes.
func childWithoutDescriptors(address string, _ []string) error {
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Cur: 24, Max: 24}); err != nil {
		return err
	}
	l, err := Listen(context.Background(), address)
	if err != nil {
		return err
	}
	say("listening")
	for {
		c, err := l.Accept()
		if errors.Is(err, syscall.EMFILE) {
			continue // as net/http does
		}
		if err != nil {
			return err
		}
		go func() {
			_, _ = io.Copy(c, c)
			c.Close()
		}()
	}
}

// childWithoutMemory echoes, where files cannot have any bytes.
func childWithoutMemory(address string, _ []string) error {
	signal.Ignore(syscall.SIGXFSZ)
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: 0, Max: 0}); err != nil {
		return err
	}
	l, err := Listen(context.Background(), address)
	if err != nil {
		return err
	}
	say("listening")
	for {
		c, err := l.Accept()
		if err != nil {
			return err
		}
		go func() {
			_, _ = io.Copy(c, c)
			c.Close()
		}()
	}
}

// childThatDialsTooOften dials with few descriptors until it has none left, and again when it has
// given one back.
func childThatDialsTooOften(address string, _ []string) error {
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Cur: 24, Max: 24}); err != nil {
		return err
	}
	var conns []net.Conn
	for {
		c, err := Dial(context.Background(), address)
		if err != nil {
			say("after %d: %v", len(conns), err)
			break
		}
		conns = append(conns, c)
	}
	for _, c := range conns { // the others have come to no harm
		if _, err := c.Write([]byte("x")); err != nil {
			return err
		}
		if _, err := c.Read(make([]byte, 1)); err != nil {
			return err
		}
	}
	for _, c := range conns[:4] {
		c.Close()
	}
	for range 1000 { // the runtime gives a descriptor back when nobody uses it any more
		if c, err := Dial(context.Background(), address); err == nil {
			say("again")
			return c.Close()
		}
	}
	return errors.New("no connection can be made any more")
}

// childOverTLS dials over TCP with the key of the tests, writes, and waits to be killed.
func childOverTLS(address string, _ []string) error {
	c, err := (&Config{Key: noise(MinKey)}).Dial(context.Background(), address)
	if err != nil {
		return err
	}
	if _, err := c.Write([]byte("last words")); err != nil {
		return err
	}
	say("written")
	untilEnd()
	return nil
}

// childOfAnotherUser dials as nobody.
func childOfAnotherUser(address string, _ []string) error {
	runtime.LockOSThread()
	if err := syscall.Setuid(65534); err != nil {
		return err
	}
	anyone := &Config{Allow: func(Peer) error { return nil }}
	c, err := anyone.Dial(context.Background(), address)
	if err != nil {
		return err
	}
	_, err = c.Read(make([]byte, 1))
	say("%v", err)
	return nil
}

// childOfManyConnections dials so often, reads on all, and says what it costs to wait.
func childOfManyConnections(address string, args []string) error {
	n, _ := strconv.Atoi(args[0])
	ended := make(chan error, n)
	for range n {
		c, err := Dial(context.Background(), address)
		if err != nil {
			return err
		}
		go func() {
			_, err := c.Read(make([]byte, 1))
			ended <- err
		}()
	}
	say("connected")
	for range n {
		if err := <-ended; err != nil {
			return err
		}
	}
	say("all have read")
	untilEnd()
	return nil
}

// status returns a figure of /proc/self/status: kibibytes, or a number.
func status(t *testing.T, name string) int {
	t.Helper()
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "\n"+name+":")
	fields := strings.Fields(rest)
	n, err := strconv.Atoi(fields[0])
	if err != nil {
		t.Fatal(err)
	}
	return n
}
