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

// A starter is a host on which the command that reaches another host can be started: this host, or one with an agent.
type starter interface {
	Start(o process.Order, s process.Streams, ended func(process.Exit)) (pid int, err error)
	Signal(id int, s syscall.Signal) bool
}

// A Remote is the launcher's side of an agent. It starts processes on the agent's host, as a process.Host does on this
// one. Its methods may be called by any goroutine.
type Remote struct {
	Name  string // the user's name for the host
	Hello Hello  // valid when Connect has returned

	via   starter
	order process.Order // the command that reaches the agent

	writable chan struct{} // closed when link is set
	link     *link
	said     tail          // the end of what the command has written to standard error
	greeted  chan struct{} // closed when Hello is set
	ended    chan struct{} // closed when the command has ended

	mu        sync.Mutex
	seq       uint64
	questions map[uint64]chan message
	processes map[int]*remoteProcess
}

// Connect starts the command that reaches a host, on the host via, and returns when the agent has sent its Hello. It
// gives up when ctx ends.
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

// mostNoise bounds the bytes that a login shell may write before the agent begins.
const mostNoise = 64 << 10

// receive handles the agent's messages until the connection ends.
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

// skipNoise reads up to the agent's greeting.
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
	return errors.New("what answers there is no agent of weft, or an agent of another version")
}

// commandEnded handles the end of the command that reaches the agent: all processes on the host count as ended.
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

// statusGone is the exit status of a process whose host has disconnected: that of ssh for a lost connection.
const statusGone = 255

// why returns in words why the command that reaches the agent has ended.
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

// handle handles a message of the agent. It does not block.
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

// pose sends a question, and returns the channel that gets its answer.
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

// Begin describes the job to the agent, and returns its answer. If the host lacks the program and it may be copied,
// Begin sends it.
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

// Watch begins to send a message to the agent every so often. When nothing has come from the agent for the time of
// silence, Watch kills the command that reaches it.
func (r *Remote) Watch(every, silence time.Duration) {
	go func() {
		r.link.beat(every, silence)
		if errors.Is(r.link.reason(), errSilent) {
			r.via.Signal(r.order.ID, syscall.SIGKILL)
		}
	}()
}

// Close says goodbye to the agent, and returns when the command that reaches it has ended.
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
		case <-time.After(patience): // the command runs on a host that has disconnected
		}
	}
	return nil
}
