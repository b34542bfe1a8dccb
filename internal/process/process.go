package process

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"weft/internal/bootstrap"
	"weft/internal/sys"
)

// A process is one that a Host has started.
type process struct {
	id       int
	cmd      *exec.Cmd
	stdin    *os.File  // our ends of its standard files, or nil
	outputs  []*output // standard output and standard error, if they are read
	launcher io.ReadWriteCloser
	theirs   []*os.File // its ends
	reading  sync.WaitGroup

	mu     sync.Mutex
	reaped bool // its number may be another's

	exit Exit // set when it has ended
}

// prepare returns a process that is still to be started, with its files.
func (h *Host) prepare(o Order, s Streams) (p *process, err error) {
	p = &process{id: o.ID, cmd: exec.Command(o.Program, o.Args...)}
	defer func() {
		if err != nil {
			p.closeEnds()
			p.abandon()
		}
	}()
	p.cmd.Dir = o.Dir
	p.cmd.Env = append(os.Environ(), o.Env...)
	p.cmd.SysProcAttr = &syscall.SysProcAttr{}
	ownGroup(p.cmd.SysProcAttr, o.Detached)
	dieWithParent(p.cmd.SysProcAttr)
	if s.Launcher != nil {
		ours, theirs, err := socketPair()
		if err != nil {
			return nil, err
		}
		p.launcher = ours
		p.theirs = append(p.theirs, theirs)
		p.cmd.ExtraFiles = []*os.File{theirs}
		p.cmd.Env = append(p.cmd.Env, bootstrap.Env+"=3")
	}
	return p, p.connect(s)
}

// connect gives the process its standard files.
func (p *process) connect(s Streams) error {
	if s.Stdin != nil {
		in, out, err := os.Pipe()
		if err != nil {
			return err
		}
		p.cmd.Stdin = in
		p.stdin = out
		p.theirs = append(p.theirs, in)
	}
	for _, f := range []struct {
		read func(io.Reader)
		file *io.Writer
	}{{s.Stdout, &p.cmd.Stdout}, {s.Stderr, &p.cmd.Stderr}} {
		if f.read == nil {
			continue
		}
		in, out, err := os.Pipe()
		if err != nil {
			return err
		}
		*f.file = out
		p.theirs = append(p.theirs, out)
		p.outputs = append(p.outputs, &output{file: in, read: f.read})
	}
	return nil
}

// start starts it, on the thread that calls.
func (p *process) start(o Order) error {
	start := p.cmd.Start
	if len(o.CPUs) > 0 {
		start = func() error { return sys.OnCPUs(o.CPUs, p.cmd.Start) }
	}
	if o.Network == "" {
		return start()
	}
	return sys.InNetwork(o.Network, start)
}

// stream hands the streams of a process that has been started to their users.
func (p *process) stream(s Streams) {
	if p.stdin != nil {
		go s.Stdin(p.stdin)
	}
	if p.launcher != nil {
		go s.Launcher(p.launcher)
	}
	for _, o := range p.outputs {
		p.reading.Go(func() { o.read(o) })
	}
}

// closeEnds closes the ends of its files that are the process's.
func (p *process) closeEnds() {
	for _, f := range p.theirs {
		f.Close()
	}
	p.theirs = nil
}

// abandon closes the files of a process that could not be started.
func (p *process) abandon() {
	if p.stdin != nil {
		p.stdin.Close()
	}
	if p.launcher != nil {
		p.launcher.Close()
	}
	for _, o := range p.outputs {
		o.file.Close()
	}
}

// await returns when the process has ended, and nothing is left in its group.
func (p *process) await() {
	pid := p.cmd.Process.Pid
	var err error
	if sys.AwaitExit(pid) == nil { // it keeps its number until Wait
		p.mu.Lock()
		killGroup(pid, syscall.SIGKILL)
		err = p.cmd.Wait()
		p.reaped = true
		p.mu.Unlock()
	} else {
		err = p.cmd.Wait()
		p.mu.Lock()
		p.reaped = true
		killGroup(pid, syscall.SIGKILL)
		p.mu.Unlock()
	}
	p.judge(err)
}

// judge turns how the process ended into a status, as a shell would, and words.
func (p *process) judge(err error) {
	state := p.cmd.ProcessState
	if state == nil {
		p.exit = Exit{Status: 1, Cause: err.Error()}
		return
	}
	p.exit = Exit{Status: state.ExitCode(), Cause: bootstrap.ErrExited.Error(), CPU: state.UserTime() + state.SystemTime()}
	ws, ok := state.Sys().(syscall.WaitStatus)
	switch {
	case ok && ws.Signaled():
		p.exit.Status = 128 + int(ws.Signal())
		p.exit.Cause = "signal: " + ws.Signal().String()
		p.exit.Signaled = true
	case p.exit.Status != 0:
		p.exit.Cause = fmt.Sprintf("exit status %d", p.exit.Status)
	}
}

// exiting reports whether the process has ended, or is about to.
func (p *process) exiting() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.reaped || sys.Exiting(p.cmd.Process.Pid)
}

// signal signals the process and what it has started. It reports whether the process
// had not ended.
func (p *process) signal(s syscall.Signal) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.reaped {
		killGroup(p.cmd.Process.Pid, s)
	}
	return !p.reaped
}

// stop stops the process, and returns when none of its threads runs any more.
func (p *process) stop() bool {
	if !p.signal(stopSignal) {
		return false
	}
	const most = time.Second // somebody else may let it go on
	for end := time.Now().Add(most); !sys.StoppedOrGone(p.cmd.Process.Pid) && time.Now().Before(end); {
		time.Sleep(50 * time.Microsecond)
	}
	return true
}

// drain waits for the last output of a process that has ended.
func (p *process) drain() {
	for _, o := range p.outputs {
		o.end()
	}
	p.reading.Wait()
	for _, o := range p.outputs {
		o.file.Close()
	}
}
