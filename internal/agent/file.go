package agent

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"sync"
)

// The program travels once over each connection of the tree of agents: an agent that has it
// passes it on to the agents that are started by way of it. It does so in the middle of what
// the launcher says to such an agent, which goes by way of it, too: between two frames, when
// the launcher has said how far it has come, and is silent until the program has passed.

// sendFile sends a file in a frame of its own, and reports whether it has begun to. A frame that
// cannot be ended ends the link.
func (l *link) sendFile(name string) (begun bool, err error) {
	l.writing.Lock()
	defer l.writing.Unlock()
	out := &checked{Writer: l.out}
	begun, err = writeFile(out, name)
	if begun && err != nil && out.err == nil { // else the end of the connection tells why
		l.fail(err)
	}
	return begun, err
}

// A checked writer keeps its last error.
type checked struct {
	io.Writer
	err error
}

// Write writes.
func (c *checked) Write(b []byte) (n int, err error) {
	n, c.err = c.Writer.Write(b)
	return n, c.err
}

// writeFile writes the frame of a file, and reports whether it has written something.
func writeFile(to io.Writer, name string) (begun bool, err error) {
	f, err := os.Open(name)
	if err != nil {
		return false, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return false, err
	}
	if info.Size() > math.MaxUint32 {
		return false, fmt.Errorf("%s has %d bytes: at most %d can be copied", name, info.Size(), uint32(math.MaxUint32))
	}
	_, err = to.Write(appendHead(nil, head{kindFile, 0, uint32(info.Size())}))
	if err == nil {
		_, err = io.CopyN(to, f, info.Size())
	}
	return true, err
}

// put sends the program: the agent by way of which this one was started does it, if there is one.
func (r *Remote) put(program string) error {
	c, err := r.pose(message{Op: "put"})
	if err != nil {
		return err
	}
	via, far := r.via.(*Remote)
	if !far || via.hand(r) != nil { // which is no reason to do without
		if begun, err := r.link.sendFile(program); !begun {
			return err
		}
	}
	_, err = r.await(c) // the agent knows best how it went
	return err
}

// hand has the agent of this host pass the program on to another one, that was started by way of it.
func (r *Remote) hand(to *Remote) error {
	to.link.writing.Lock()
	defer to.link.writing.Unlock()
	_, err := r.ask(message{Op: "hand", ID: to.order.ID, Value: to.link.sent})
	return err
}

// hand passes the program on.
func (a *agent) hand(m message) {
	f := a.feed(m.ID)
	err := errors.New("there is no such process")
	if f != nil {
		err = f.insert(m.Value, a.program)
	}
	_ = a.answer(m, message{}, err)
}

// receive takes the program, which has been announced.
func (a *agent) receive(from io.Reader) error {
	if a.put == nil || a.path == "" {
		return fmt.Errorf("%w: a file that nobody has asked for", ErrProtocol)
	}
	err := a.write(from)
	if err != nil {
		err = fmt.Errorf("the copy of the program: %w", err)
	}
	a.program = a.path
	m := *a.put
	a.put = nil
	return a.answer(m, message{}, err)
}

func (a *agent) write(from io.Reader) error {
	f, err := os.OpenFile(a.path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o700)
	if err != nil {
		return err
	}
	h := sha256.New()
	_, err = io.Copy(io.MultiWriter(f, h), from)
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	if got := hex.EncodeToString(h.Sum(nil)); got != a.hash {
		return errors.New("it has changed while it was sent")
	}
	return nil
}

// A feed is the standard input of a process: what the launcher writes, and perhaps the program
// in the middle of it.
type feed struct {
	to io.Writer

	mu      sync.Mutex
	changed sync.Cond
	passed  int   // bytes of the launcher
	failure error // nothing passes any more
}

func newFeed(to io.Writer) *feed {
	f := &feed{to: to}
	f.changed.L = &f.mu
	return f
}

// Write passes on what the launcher has written.
func (f *feed) Write(b []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	n, err := f.to.Write(b)
	f.passed += n
	f.changed.Broadcast()
	return n, err
}

// end takes note that no more comes, or can be written.
func (f *feed) end() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.failure = io.ErrClosedPipe
	f.changed.Broadcast()
}

// insert writes the frame of a file when so many bytes of the launcher have passed, which
// writes no more until then.
func (f *feed) insert(after int, file string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	for f.passed < after && f.failure == nil {
		f.changed.Wait()
	}
	if f.failure != nil || f.passed > after {
		return errors.Join(ErrProtocol, f.failure)
	}
	begun, err := writeFile(f.to, file)
	if begun && err != nil {
		f.failure = err
		if c, ok := f.to.(io.Closer); ok {
			c.Close() // what follows would be taken for the rest
		}
	}
	return err
}
