package launch

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"

	"weft/internal/bootstrap"
	"weft/internal/sys"
)

// A process is one rank of a job.
type process struct {
	number  int
	host    string
	cmd     *exec.Cmd
	began   time.Time
	pipes   []*os.File // the ends of its output that we read
	outputs sync.WaitGroup

	mu     sync.Mutex
	reaped bool // its number may be another's

	ended  chan struct{} // closed when it has ended and its output has been passed on
	status int           // as a shell's; set when it has ended, as the following are
	cause  string

	signaled bool // a signal ended it
	last     lastLine
}

// start starts one rank.
func (r *Running) start(i int) (*process, error) {
	p, err := r.tryStart(i)
	switch {
	case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE):
		return nil, fmt.Errorf("weft: rank %d cannot be started: %w: %d ranks need about %d descriptors in the launcher (ulimit -n)", i, err, r.job.N, 3*r.job.N+20)
	case err != nil:
		return nil, fmt.Errorf("weft: rank %d: %w", i, err)
	}
	return p, nil
}

func (r *Running) tryStart(i int) (*process, error) {
	ours, theirs, err := socketPair()
	if err != nil {
		return nil, err
	}
	defer theirs.Close()
	p := &process{number: i, host: r.hosts[i], began: time.Now(), ended: make(chan struct{})}
	p.cmd = exec.Command(r.job.Program, r.job.Args...)
	p.cmd.Env = append(append(os.Environ(), r.job.Env...), bootstrap.Env+"=3")
	p.cmd.ExtraFiles = []*os.File{theirs}
	p.cmd.SysProcAttr = &syscall.SysProcAttr{}
	ownGroup(p.cmd.SysProcAttr)
	dieWithParent(p.cmd.SysProcAttr)
	closeEnds, err := r.connect(p)
	if err != nil {
		ours.Close()
		return nil, err
	}
	err = r.on(i, p.cmd)
	closeEnds()
	if err != nil {
		ours.Close()
		return nil, err
	}
	r.guard.add(p.cmd.Process.Pid)
	go r.serve(p, ours)
	go func() {
		p.await()
		p.drain()
		r.ends <- p
	}()
	return p, nil
}

// serve answers a rank's questions until it ends.
func (r *Running) serve(p *process, c io.ReadWriteCloser) {
	if err := r.server.Serve(p.number, c); err != nil {
		r.report("weft run: %v\n", err)
	}
}

// await returns when the rank has ended, and nothing is left in its group.
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
		p.status, p.cause = 1, err.Error()
		return
	}
	ws, ok := state.Sys().(syscall.WaitStatus)
	switch {
	case ok && ws.Signaled():
		p.status, p.cause, p.signaled = 128+int(ws.Signal()), "signal: "+ws.Signal().String(), true
	case state.ExitCode() != 0:
		p.status, p.cause = state.ExitCode(), fmt.Sprintf("exit status %d", state.ExitCode())
	default:
		p.cause = bootstrap.ErrExited.Error()
	}
}

// why says why the process failed.
func (p *process) why() string {
	if last := strings.TrimSpace(string(p.last.text[:p.last.n])); last != "" && !p.signaled {
		return p.cause + ": " + last
	}
	return p.cause
}

// exiting reports whether the process has ended, or is about to.
func (p *process) exiting() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.reaped || sys.Exiting(p.cmd.Process.Pid)
}

// signal signals the rank and what it has started. It reports whether the rank had
// not ended.
func (p *process) signal(s syscall.Signal) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.reaped {
		killGroup(p.cmd.Process.Pid, s)
	}
	return !p.reaped
}

// stop stops the rank, and returns when none of its threads runs any more.
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

// Kill kills a rank, and what it has started, and returns when it has ended. It
// does nothing to a rank that has ended.
func (r *Running) Kill(rank int) {
	p := r.ranks[rank]
	p.signal(syscall.SIGKILL)
	<-p.ended
}

// Stop stops a rank, and returns when it stands still. It reports whether there was
// something to stop.
func (r *Running) Stop(rank int) bool { return r.ranks[rank].stop() }

// Continue lets a rank that was stopped go on. It reports whether it has not ended.
func (r *Running) Continue(rank int) bool { return r.ranks[rank].signal(continueSignal) }

// Signal signals a rank, and what it has started. It reports whether it has not ended.
func (r *Running) Signal(rank int, s syscall.Signal) bool { return r.ranks[rank].signal(s) }

// PID returns the number of a rank's process.
func (r *Running) PID(rank int) int { return r.ranks[rank].cmd.Process.Pid }

// Ended returns a channel that is closed when a rank has ended and what it wrote has
// been passed on.
func (r *Running) Ended(rank int) <-chan struct{} { return r.ranks[rank].ended }

// Exit tells how a rank has ended: the status that a shell would show, and why.
func (r *Running) Exit(rank int) (status int, cause string) {
	p := r.ranks[rank]
	<-p.ended
	return p.status, p.cause
}
