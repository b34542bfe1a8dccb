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

// A guard is a small process that outlives the process that started it. It knows the process groups of the ranks. When
// its parent ends without a goodbye, because it was killed, the guard kills these groups and removes the directory. The
// kernel kills the ranks themselves (see dieWithParent); the guard kills their children.
type guard struct {
	cmd  *exec.Cmd
	pipe *os.File
	dir  string
}

// guardEnv is set in the environment of a guard.
const guardEnv = "WEFT_RUN_GUARD"

// Guarded is called first by the main function of every program that calls Open. In a guard process it does not return.
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
	_ = g.cmd.Wait() // its status has no meaning
}

// beGuard is the main function of a guard.
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
	// A killed process holds its page of counters until the last of its threads has ended.
	for end := time.Now().Add(lingering); directory.Shows(groups) && time.Now().Before(end); directory.Sweep() {
		time.Sleep(10 * time.Millisecond)
	}
}

// lingering bounds the time for which the guard looks for pages of counters of the processes that it has killed.
const lingering = 10 * time.Second
