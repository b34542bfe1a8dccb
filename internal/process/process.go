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

// A process is a process that a Host has started.
type process struct {
	id       int
	cmd      *exec.Cmd
	stdin    *os.File           // the writing end of its standard input, or nil
	outputs  []*output          // its standard output and standard error, if they are read
	launcher io.ReadWriteCloser // this end of its connection to the launcher, or nil
	theirs   []*os.File         // the process's ends of these
	reading  sync.WaitGroup

	mu     sync.Mutex
	reaped bool // it has been waited for, so its number may belong to another process

	exit Exit // set when it has ended
}

// prepare returns a process with its files, which is not started yet.
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
		p.outputs = append(p.outputs, &output{file: in, read: f.read, rest: largestPipe})
	}
	return nil
}

// start starts the process as a child of the calling thread.
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

// stream hands the streams of a started process to their users.
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

// closeEnds closes this process's copies of the files that the started process has.
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

// await returns when the process has ended. It kills what is left of its process group.
func (p *process) await() {
	pid := p.cmd.Process.Pid
	var err error
	if sys.AwaitExit(pid) == nil { // the process keeps its number until Wait
		p.exit.At = time.Now()
		p.mu.Lock()
		killGroup(pid, syscall.SIGKILL)
		err = p.cmd.Wait()
		p.reaped = true
		p.mu.Unlock()
	} else {
		err = p.cmd.Wait()
		p.exit.At = time.Now()
		p.mu.Lock()
		p.reaped = true
		killGroup(pid, syscall.SIGKILL)
		p.mu.Unlock()
	}
	p.judge(err)
}

// judge sets the exit status, as a shell has it, and the cause in words.
func (p *process) judge(err error) {
	state := p.cmd.ProcessState
	if state == nil {
		p.exit.Status = 1
		p.exit.Cause = err.Error()
		return
	}
	p.exit.Status = state.ExitCode()
	p.exit.Cause = bootstrap.ErrExited.Error()
	p.exit.CPU = state.UserTime() + state.SystemTime()
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

// signal sends a signal to the process and its children. It reports whether the process had not ended.
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
	const most = time.Second // another process may let it go on
	for end := time.Now().Add(most); !sys.StoppedOrGone(p.cmd.Process.Pid) && time.Now().Before(end); {
		time.Sleep(50 * time.Microsecond)
	}
	return true
}

// drain waits until the output of a process that has ended has been read.
func (p *process) drain() {
	for _, o := range p.outputs {
		o.end()
	}
	p.reading.Wait()
	for _, o := range p.outputs {
		o.file.Close()
	}
}
