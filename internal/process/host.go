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

// An Order describes a process to start.
type Order struct {
	ID       int // unique among the processes of a Host
	Program  string
	Args     []string `json:",omitempty"`
	Env      []string `json:",omitempty"` // added to this process's environment
	Dir      string   `json:",omitempty"` // working directory; "" for that of this process
	CPUs     []int    `json:",omitempty"` // processors that it may use; nil for those of this process
	Network  string   `json:",omitempty"` // file of its network namespace; "" for that of this process
	Detached bool     `json:",omitempty"` // it gets no terminal, so it cannot ask the user
}

// Streams are the users of a process's standard files and of its connection to the launcher. Each function is called in
// a goroutine of its own, and owns the stream until it returns. If it is nil, the process has no such stream.
type Streams struct {
	Stdin          func(io.WriteCloser)
	Stdout, Stderr func(io.Reader)
	Launcher       func(io.ReadWriteCloser) // its other end is descriptor 3 of the process
}

// An Exit is how a process has ended.
type Exit struct {
	Status   int           // as of a shell: 128 + the number of the signal that ended it
	Cause    string        // in words
	Signaled bool          // a signal ended it, or its host has disconnected
	CPU      time.Duration // processor time that it has used
	At       time.Time     // when this process noticed it
}

// A Host starts processes on this host. Its methods may be called by any goroutine.
type Host struct {
	guard  *guard
	starts chan func() // run by the thread that is the parent of all processes
	closed chan struct{}

	mu        sync.Mutex
	processes map[int]*process // processes that have not ended
}

// Open returns this host. If dir is not "", the directory is removed when the Host is closed or this process is killed.
func Open(dir string) (*Host, error) {
	g, err := startGuard(dir)
	if err != nil {
		return nil, err
	}
	h := &Host{guard: g, starts: make(chan func()), closed: make(chan struct{}), processes: map[int]*process{}}
	go h.work()
	return h, nil
}

// work starts all processes on one thread, which exists as long as the Host: the kernel kills a process when the thread
// that started it ends.
func (h *Host) work() {
	runtime.LockOSThread() // never unlocked, so the thread ends with the goroutine
	for {
		select {
		case start := <-h.starts:
			start()
		case <-h.closed:
			return
		}
	}
}

// ErrClosed reports that a Host has been closed and starts no processes.
var ErrClosed = errors.New("weft: the host has been closed")

// Start starts a process, and returns its number. It calls ended from another goroutine when the process has ended, its
// process group is empty, and its output has been passed on. That may be before Start returns.
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

// process returns a process that has not ended, or nil.
func (h *Host) process(id int) *process {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.processes[id]
}

// all returns the processes that have not ended.
func (h *Host) all() (list []*process) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, p := range h.processes {
		list = append(list, p)
	}
	return list
}

// Signal sends a signal to a process and its children. It reports whether the process had not ended.
func (h *Host) Signal(id int, s syscall.Signal) bool {
	p := h.process(id)
	return p != nil && p.signal(s)
}

// Stop stops a process, and returns when none of its threads runs any more. It reports whether the process had not
// ended.
func (h *Host) Stop(id int) bool {
	p := h.process(id)
	return p != nil && p.stop()
}

// Exiting returns the processes that have ended, or are about to. It may leave out those for which ended has been
// called.
func (h *Host) Exiting() (ids []int) {
	for _, p := range h.all() {
		if p.exiting() {
			ids = append(ids, p.id)
		}
	}
	slices.Sort(ids)
	return ids
}

// Close kills the processes that have not ended, and removes the pages of counters of jobs that have.
func (h *Host) Close() error {
	for _, p := range h.all() {
		p.signal(syscall.SIGKILL)
	}
	close(h.closed)
	h.guard.stop()
	directory.Sweep()
	return nil
}
