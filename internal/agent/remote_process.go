package agent

import (
	"fmt"
	"io"
	"sync"
	"syscall"
	"time"

	"weft/internal/process"
)

// A remoteProcess is a process that a Remote has started.
type remoteProcess struct {
	ended   func(process.Exit)
	reading sync.WaitGroup
	started chan struct{} // closed when its streams have users
	close   []*stream     // streams to close when it has ended
	exiting bool          // it has ended; guarded by the Remote's lock
}

// Start starts a process on the agent's host: see process.Host.Start.
func (r *Remote) Start(o process.Order, s process.Streams, ended func(process.Exit)) (pid int, err error) {
	p := &remoteProcess{ended: ended, started: make(chan struct{})}
	open := func(which uint32, wanted bool) (*stream, bool) {
		if !wanted {
			return nil, false
		}
		return r.link.open(streamOf(o.ID, which)), true
	}
	stdin, hasStdin := open(streamStdin, s.Stdin != nil)
	stdout, hasStdout := open(streamStdout, s.Stdout != nil)
	stderr, hasStderr := open(streamStderr, s.Stderr != nil)
	launcher, hasLauncher := open(streamLauncher, s.Launcher != nil)
	r.mu.Lock()
	r.processes[o.ID] = p
	r.mu.Unlock()
	a, err := r.ask(message{Op: "start", ID: o.ID, Order: &order{o, hasStdin, hasStdout, hasStderr, hasLauncher}})
	if err != nil {
		r.mu.Lock()
		lost := p.exiting // the host has disconnected meanwhile: ended is called as for a process that had run
		if !lost {
			delete(r.processes, o.ID)
		}
		r.mu.Unlock()
		if !lost {
			for _, st := range []*stream{stdin, stdout, stderr, launcher} {
				if st != nil {
					st.Close()
				}
			}
			return 0, fmt.Errorf("on %s: %w", r.Name, err)
		}
	}
	if hasStdin {
		go s.Stdin(half{stdin})
		p.close = append(p.close, stdin)
	}
	if hasStdout {
		p.read(stdout, s.Stdout)
	}
	if hasStderr {
		p.read(stderr, s.Stderr)
	}
	if hasLauncher {
		go s.Launcher(launcher)
	}
	close(p.started)
	return a.PID, nil
}

// read hands an output of the process to its reader.
func (p *remoteProcess) read(s *stream, reader func(io.Reader)) {
	p.reading.Go(func() {
		reader(s)
		s.Close()
	})
}

// A half is the writing half of a stream: Close closes this half only.
type half struct{ *stream }

// Close closes the writing half.
func (h half) Close() error {
	h.CloseWrite()
	return nil
}

// Signal sends a signal to a process and its children. It reports false if the process is known to have ended.
func (r *Remote) Signal(id int, s syscall.Signal) bool {
	if !r.has(id) {
		return false
	}
	return r.link.say(message{Op: "signal", ID: id, Value: int(s)}) == nil
}

// Stop stops a process, and returns when none of its threads runs any more. It reports false if the process has ended.
func (r *Remote) Stop(id int) bool {
	if !r.has(id) {
		return false
	}
	a, err := r.ask(message{Op: "stop", ID: id})
	return err == nil && a.OK
}

func (r *Remote) has(id int) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	p := r.processes[id]
	return p != nil && !p.exiting
}

// mostPatience bounds the wait for the answer of an agent without Watch.
const mostPatience = 5 * time.Second

// Exiting returns the processes that have ended, or are about to: all of them if the host has disconnected.
func (r *Remote) Exiting() (ids []int) {
	answered := make(chan message, 1)
	go func() {
		a, err := r.ask(message{Op: "exiting"})
		if err != nil {
			<-r.ended
		}
		answered <- a
	}()
	select {
	case a := <-answered:
		ids = a.IDs
	case <-time.After(mostPatience):
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for id, p := range r.processes {
		if p.exiting {
			ids = append(ids, id)
		}
	}
	return ids
}

// end reports the end of a process, after its output has been read. The caller holds the lock.
func (r *Remote) end(id int, p *remoteProcess, e process.Exit) {
	if p.exiting {
		return
	}
	p.exiting = true
	e.At = time.Now() // by this host's clock
	go func() {
		<-p.started
		p.reading.Wait()
		for _, s := range p.close {
			s.Close()
		}
		p.ended(e)
		r.mu.Lock()
		delete(r.processes, id)
		r.mu.Unlock()
	}()
}
