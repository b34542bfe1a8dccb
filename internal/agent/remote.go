package agent

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"syscall"
	"time"

	"weft/internal/process"
)

// A starter is a host on which the command that leads to an agent can be started: this
// one, or another one behind an agent of its own.
type starter interface {
	Start(o process.Order, s process.Streams, ended func(process.Exit)) (pid int, err error)
	Signal(id int, s syscall.Signal) bool
}

// A Remote is another host, as its launcher sees it: it starts processes there as a
// process.Host does here. Its methods may be called by any goroutine.
type Remote struct {
	Name  string // of the host, as the launcher's user calls it
	Hello Hello  // to be read when Connect has returned

	via   starter
	order process.Order // the command that leads to the agent

	writable chan struct{} // closed when link is there
	link     *link
	said     tail          // what the command has written to standard error
	greeted  chan struct{} // closed when Hello is there
	ended    chan struct{} // closed when the command has ended

	mu        sync.Mutex
	seq       uint64
	questions map[uint64]chan message
	processes map[int]*remoteProcess
}

// A remoteProcess is one that has been started through a Remote.
type remoteProcess struct {
	ended   func(process.Exit)
	reading sync.WaitGroup
	started chan struct{} // closed when its streams have users
	close   []*stream     // when it has ended
	exiting bool          // it has ended; guarded by the Remote's lock
}

// Connect starts the command that leads to the agent of a host, by way of another one,
// and returns when the agent has said hello. When ctx ends it gives up.
func Connect(ctx context.Context, name string, via starter, order process.Order) (*Remote, error) {
	r := &Remote{
		Name: name, via: via, order: order,
		writable: make(chan struct{}), greeted: make(chan struct{}), ended: make(chan struct{}),
		questions: map[uint64]chan message{}, processes: map[int]*remoteProcess{},
	}
	_, err := via.Start(order, process.Streams{
		Stdin: func(w io.WriteCloser) {
			r.link = newLink(w)
			close(r.writable)
			<-r.link.over
			w.Close()
		},
		Stdout: r.receive,
		Stderr: func(from io.Reader) { _, _ = io.Copy(&r.said, from) },
	}, r.commandEnded)
	if err != nil {
		return nil, fmt.Errorf("weft: host %s: %s cannot be started: %w", name, order.Program, err)
	}
	select {
	case <-r.greeted:
		return r, nil
	case <-r.ended:
		return nil, fmt.Errorf("weft: host %s: %w", name, r.link.reason())
	case <-ctx.Done():
		_ = r.Close()
		return nil, fmt.Errorf("weft: host %s does not answer: %w", name, context.Cause(ctx))
	}
}

// most bytes that a shell may write before the agent begins.
const mostNoise = 64 << 10

// receive hands on what the agent says until the connection ends.
func (r *Remote) receive(from io.Reader) {
	<-r.writable
	in := bufio.NewReader(from)
	err := skipNoise(in)
	if err == nil {
		err = r.link.run(in, r.handle)
	}
	if !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		r.link.fail(err)
		r.via.Signal(r.order.ID, syscall.SIGKILL)
		return
	}
	const patience = time.Second // the command ends with the agent
	time.AfterFunc(patience, func() {
		select {
		case <-r.ended:
		default:
			r.via.Signal(r.order.ID, syscall.SIGKILL)
		}
	})
}

// skipNoise reads up to the line with which an agent begins.
func skipNoise(in *bufio.Reader) error {
	for read := 0; read < mostNoise; {
		line, err := in.ReadSlice('\n')
		if bytes.HasSuffix(line, []byte(greeting)) {
			return nil
		}
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return err
		}
		read += len(line)
	}
	return errors.New("what answers there is no agent of weft, or of another version")
}

// commandEnded takes note that the command that led to the agent has ended, and with it
// all that ran there.
func (r *Remote) commandEnded(e process.Exit) {
	<-r.writable
	r.link.fail(errors.New(r.why(e)))
	gone := process.Exit{Status: statusGone, Cause: "its host is gone: " + r.link.reason().Error(), Signaled: true}
	r.mu.Lock()
	defer r.mu.Unlock()
	for id, p := range r.processes {
		r.end(id, p, gone)
	}
	close(r.ended)
}

// end tells of the end of a process when its output has been read. The lock is held.
func (r *Remote) end(id int, p *remoteProcess, e process.Exit) {
	if p.exiting {
		return
	}
	p.exiting = true
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

// statusGone is the status of a process whose host is gone, as ssh has it.
const statusGone = 255

// why says why the command that led to the agent has ended.
func (r *Remote) why(e process.Exit) string {
	said := r.said.line()
	name := r.order.Program
	if i := strings.LastIndexByte(name, '/'); i >= 0 {
		name = name[i+1:]
	}
	met := isClosed(r.greeted)
	switch {
	case !met && (e.Status == 127 || e.Status == 126):
		return "there is no weft where it lies here: " + said + "; install it there, or say -copy"
	case said != "":
		return name + ": " + strings.TrimPrefix(said, name+": ")
	case met:
		return "its agent has ended (" + name + ": " + e.Cause + ")"
	default:
		return name + ": " + e.Cause
	}
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// handle takes what the agent says. It never waits.
func (r *Remote) handle(m message) error {
	switch m.Op {
	case "hello":
		if m.Hello == nil || isClosed(r.greeted) {
			return fmt.Errorf("%w: hello", ErrProtocol)
		}
		r.Hello = *m.Hello
		close(r.greeted)
	case "answer":
		r.mu.Lock()
		c := r.questions[m.Seq]
		delete(r.questions, m.Seq)
		r.mu.Unlock()
		if c != nil {
			c <- m
		}
	case "ended":
		r.mu.Lock()
		defer r.mu.Unlock()
		p := r.processes[m.ID]
		if p == nil || m.Exit == nil {
			return fmt.Errorf("%w: ended", ErrProtocol)
		}
		r.end(m.ID, p, *m.Exit)
	default:
		return fmt.Errorf("%w: %q", ErrProtocol, m.Op)
	}
	return nil
}

// ask asks the agent, and returns its answer.
func (r *Remote) ask(m message) (message, error) {
	c, err := r.pose(m)
	if err != nil {
		return message{}, err
	}
	return r.await(c)
}

// pose sends a question, and returns where its answer comes.
func (r *Remote) pose(m message) (<-chan message, error) {
	c := make(chan message, 1)
	r.mu.Lock()
	r.seq++
	m.Seq = r.seq
	r.questions[m.Seq] = c
	r.mu.Unlock()
	if err := r.link.say(m); err != nil && r.link.reason() == nil {
		return nil, err
	}
	return c, nil
}

// await waits for an answer.
func (r *Remote) await(c <-chan message) (message, error) {
	select {
	case a := <-c:
		if a.Error != "" {
			return a, errors.New(a.Error)
		}
		return a, nil
	case <-r.link.over:
		return message{}, r.link.reason()
	}
}

// Begin tells the agent of the job, and returns its answer, when the program is there.
// The program is sent if it is wanted.
func (r *Remote) Begin(b Begin) (Reply, error) {
	a, err := r.ask(message{Op: "begin", Begin: &b})
	if err == nil && a.Reply == nil {
		err = ErrProtocol
	}
	if err == nil && a.Reply.Wanted {
		err = r.put(b.Program)
	}
	if err != nil {
		return Reply{}, fmt.Errorf("weft: host %s: %w", r.Name, err)
	}
	return *a.Reply, nil
}

// Watch lets the agent hear from us every now and then, and gives it up when it has not
// been heard for the time of silence.
func (r *Remote) Watch(every, silence time.Duration) {
	go func() {
		r.link.beat(every, silence)
		if errors.Is(r.link.reason(), errSilent) {
			r.via.Signal(r.order.ID, syscall.SIGKILL)
		}
	}()
}

// Start starts a process there: see process.Host.
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
		lost := p.exiting // with its host: that is the end of a process like another one
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

// A half is a stream to write to: to close it is to say that no more follows.
type half struct{ *stream }

// Close says that no more follows.
func (h half) Close() error {
	h.CloseWrite()
	return nil
}

// Signal signals a process and what it has started. It reports whether the process had
// not ended when it was last heard of.
func (r *Remote) Signal(id int, s syscall.Signal) bool {
	if !r.has(id) {
		return false
	}
	return r.link.say(message{Op: "signal", ID: id, Value: int(s)}) == nil
}

// Stop stops a process, and returns when none of its threads runs any more.
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

// mostPatience bounds how long an agent is waited for that nobody watches.
const mostPatience = 5 * time.Second

// Exiting returns the processes that have ended, or are about to: all, if the host is
// gone.
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

// Close says goodbye to the agent, and returns when the command that led to it has
// ended.
func (r *Remote) Close() error {
	<-r.writable
	go func() {
		_ = r.link.say(message{Op: "bye"})
		r.link.fail(errBye) // and its standard input ends
	}()
	const patience = 2 * time.Second
	select {
	case <-r.ended:
	case <-time.After(patience):
		r.via.Signal(r.order.ID, syscall.SIGKILL)
		select {
		case <-r.ended:
		case <-time.After(patience): // it went by way of a host that is gone
		}
	}
	return nil
}
