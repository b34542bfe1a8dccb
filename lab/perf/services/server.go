package services

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// envServer is the environment variable that makes this executable the server of a measurement. Its value is the
// system, the protocol and the address of the host.
const envServer = "WEFT_PERF_SERVICE"

// Server serves, if this process was started as a server, and reports whether it was. The main function of every
// program that measures must call it first.
func Server() bool {
	text := os.Getenv(envServer)
	if text == "" {
		return false
	}
	words := strings.Fields(text)
	if len(words) != 3 {
		fmt.Fprintf(os.Stderr, "weftlab perf services: %s: %q: only a measurement sets it\n", envServer, text)
		os.Exit(1)
	}
	if err := serve(words[0], words[1], words[2]); err != nil {
		fmt.Fprintf(os.Stderr, "weftlab perf services: %v\n", err)
		os.Exit(1)
	}
	return true
}

// serve answers requests until standard input ends. For each line there it prints how much processor time this
// process has used.
func serve(system, protocol, host string) error {
	p, err := find(protocol)
	if err != nil {
		return err
	}
	l, err := listen(context.Background(), system, host)
	if err != nil {
		return err
	}
	defer l.Close()
	failed := make(chan error, 1)
	go func() { failed <- p.Serve(l) }()
	fmt.Println(l.Addr())
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		fmt.Println(used().Nanoseconds())
	}
	select {
	case err := <-failed:
		return err
	default:
		return nil
	}
}

// used returns the processor time of this process.
func used() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// A server is the process that answers requests.
type server struct {
	cmd     *exec.Cmd
	lines   *bufio.Scanner // of its output
	stdin   io.WriteCloser
	address string
}

// start starts this executable as a server, on the host that places returns.
func start(ctx context.Context, system, protocol string) (*server, error) {
	_, host, err := places()
	if err != nil {
		return nil, err
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, self)
	cmd.Env = append(os.Environ(), envServer+"="+system+" "+protocol+" "+host.Address)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := host.Start(cmd); err != nil {
		return nil, err
	}
	s := &server{cmd: cmd, lines: bufio.NewScanner(out), stdin: in}
	if !s.lines.Scan() {
		s.end()
		return nil, fmt.Errorf("services: the server of %s over %s did not start", protocol, system)
	}
	s.address = s.lines.Text()
	return s, nil
}

// used returns the processor time of the server.
func (s *server) used() time.Duration {
	var ns int64
	if _, err := io.WriteString(s.stdin, "\n"); err != nil || !s.lines.Scan() {
		return 0
	}
	if _, err := fmt.Sscan(s.lines.Text(), &ns); err != nil {
		return 0
	}
	return time.Duration(ns)
}

// end closes the standard input of the server, at which it exits, and waits for it.
func (s *server) end() {
	s.stdin.Close()
	_ = s.cmd.Wait()
}
