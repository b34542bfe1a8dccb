package process

import (
	"errors"
	"io"
	"runtime"
	"slices"
	"sync"
	"syscall"
	"time"

	"weft/internal/counters/directory"
)

// An Order says what to start.
type Order struct {
	ID       int // unique among the processes of a Host
	Program  string
	Args     []string `json:",omitempty"`
	Env      []string `json:",omitempty"` // besides our own environment
	Dir      string   `json:",omitempty"` // where it runs; "" for where we do
	CPUs     []int    `json:",omitempty"` // the only processors that it uses; nil for all of ours
	Network  string   `json:",omitempty"` // the file of its network namespace; "" for ours
	Detached bool     `json:",omitempty"` // it has no terminal to ask on
}

// Streams are where a process's standard files and its connection to the launcher
// lead to. Each function is called in a goroutine of its own and has the stream until
// it returns; nil means that there is no such stream.
type Streams struct {
	Stdin          func(io.WriteCloser)
	Stdout, Stderr func(io.Reader)
	Launcher       func(io.ReadWriteCloser) // its other end is descriptor 3 of the process
}

// An Exit tells how a process has ended.
type Exit struct {
	Status   int           // as a shell's: 128 + the number of the signal that ended it
	Cause    string        // in words
	Signaled bool          // a signal ended it, or its host is gone: nothing that it did itself
	CPU      time.Duration // that it has used
}

// A Host starts processes on this host. Its methods may be called by any goroutine.
type Host struct {
	guard  *guard
	starts chan func() // for the thread whose children they are
	closed chan struct{}

	mu        sync.Mutex
	processes map[int]*process // that have not ended
}

// Open returns this host. The directory is removed when it is closed, and also when
// this process is killed; it may be "".
func Open(dir string) (*Host, error) {
	g, err := startGuard(dir)
	if err != nil {
		return nil, err
	}
	h := &Host{guard: g, starts: make(chan func()), closed: make(chan struct{}), processes: map[int]*process{}}
	go h.work()
	return h, nil
}

// work starts processes, all on one thread, which lasts as long as the Host: the kernel
// kills them when the thread that started them ends.
func (h *Host) work() {
	runtime.LockOSThread() // and never unlocked: the thread ends with the goroutine
	for {
		select {
		case start := <-h.starts:
			start()
		case <-h.closed:
			return
		}
	}
}

// ErrClosed reports that a Host starts nothing any more.
var ErrClosed = errors.New("weft: the host has been closed")

// Start starts a process, and returns its number. When the process has ended, nothing
// is left in its group, and its output has been passed on, ended is called, from
// another goroutine, and may be called before Start returns.
func (h *Host) Start(o Order, s Streams, ended func(Exit)) (pid int, err error) {
	p, err := h.prepare(o, s)
	if err != nil {
		return 0, err
	}
	started := make(chan error)
	select {
	case h.starts <- func() { started <- p.start(o) }:
		err = <-started
	case <-h.closed:
		err = ErrClosed
	}
	p.closeEnds()
	if err != nil {
		p.abandon()
		return 0, err
	}
	pid = p.cmd.Process.Pid
	h.guard.add(pid)
	h.mu.Lock()
	h.processes[o.ID] = p
	h.mu.Unlock()
	p.stream(s)
	go func() {
		p.await()
		p.drain()
		ended(p.exit)
		h.mu.Lock()
		delete(h.processes, o.ID)
		h.mu.Unlock()
	}()
	return pid, nil
}

// process returns one that has not ended, or nil.
func (h *Host) process(id int) *process {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.processes[id]
}

// all returns those that have not ended.
func (h *Host) all() (list []*process) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, p := range h.processes {
		list = append(list, p)
	}
	return list
}

// Signal signals a process and what it has started. It reports whether the process had
// not ended.
func (h *Host) Signal(id int, s syscall.Signal) bool {
	p := h.process(id)
	return p != nil && p.signal(s)
}

// Stop stops a process, and returns when none of its threads runs any more. It reports
// whether the process had not ended.
func (h *Host) Stop(id int) bool {
	p := h.process(id)
	return p != nil && p.stop()
}

// Exiting returns the processes that have ended, or are about to. Those for which ended
// has been called may be missing.
func (h *Host) Exiting() (ids []int) {
	for _, p := range h.all() {
		if p.exiting() {
			ids = append(ids, p.id)
		}
	}
	slices.Sort(ids)
	return ids
}

// Close kills what has not ended, and removes the pages of counters of jobs that are over.
func (h *Host) Close() error {
	for _, p := range h.all() {
		p.signal(syscall.SIGKILL)
	}
	close(h.closed)
	h.guard.stop()
	directory.Sweep()
	return nil
}
