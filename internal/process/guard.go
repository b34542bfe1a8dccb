package process

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"

	"weft/internal/counters/directory"
)

// A guard is a small process that outlives the one that started it: it is told the
// process groups of the ranks, and when its parent ends without a goodbye, because it
// was killed, it kills them and removes the directory. The ranks themselves die by the
// kernel's hand; the guard is for what they have started.
type guard struct {
	cmd  *exec.Cmd
	pipe *os.File
	dir  string
}

// guardEnv tells an executable to be a guard.
const guardEnv = "WEFT_RUN_GUARD"

// Guarded must be called first by main of every program that calls Open: in the
// guard process it does not return.
func Guarded() {
	if os.Getenv(guardEnv) != "" {
		beGuard()
		os.Exit(0)
	}
}

func startGuard(temp string) (*guard, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("weft: the job's guard: %w", err)
	}
	in, out, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer in.Close()
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), guardEnv+"=1")
	cmd.Stdin = in
	cmd.SysProcAttr = &syscall.SysProcAttr{}
	ownGroup(cmd.SysProcAttr, false)
	if err := cmd.Start(); err != nil {
		out.Close()
		return nil, fmt.Errorf("weft: the job's guard: %w", err)
	}
	g := &guard{cmd, out, temp}
	if temp != "" {
		fmt.Fprintf(out, "dir %s\n", strconv.Quote(temp))
	}
	return g, nil
}

// add puts a process group under guard.
func (g *guard) add(pid int) { fmt.Fprintf(g.pipe, "group %d\n", pid) }

// stop removes the directory and says goodbye.
func (g *guard) stop() {
	if g.dir != "" {
		os.RemoveAll(g.dir)
	}
	fmt.Fprintln(g.pipe, "bye")
	g.pipe.Close()
	_ = g.cmd.Wait() // it has nothing to report
}

// beGuard is the guard process.
func beGuard() {
	signal.Ignore(syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGPIPE)
	var groups []int
	dir := ""
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		word, rest, _ := strings.Cut(in.Text(), " ")
		switch word {
		case "group":
			if pid, err := strconv.Atoi(rest); err == nil && pid > 1 {
				groups = append(groups, pid)
			}
		case "dir":
			if d, err := strconv.Unquote(rest); err == nil {
				dir = d
			}
		case "bye":
			return
		}
	}
	for _, pid := range groups {
		killGroup(pid, syscall.SIGKILL)
	}
	if dir != "" {
		os.RemoveAll(dir)
	}
	// Who was killed holds its page until the last of its threads has ended.
	for end := time.Now().Add(lingering); directory.Shows(groups) && time.Now().Before(end); directory.Sweep() {
		time.Sleep(10 * time.Millisecond)
	}
}

// lingering is for how long the guard looks at most whether pages are left of those that it has killed.
const lingering = 10 * time.Second
