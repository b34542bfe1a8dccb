package mpi

import (
	"context"

	"weft"
	"weft/extend"
	"weft/internal/match"
)

// Probe returns the status of the message that Recv would receive, and leaves the message; it waits until there is one.
// Another goroutine may receive the message in between: see MProbe. Errors are those of Recv; a departure that a Probe
// from AnySource has reported is not reported to a receive from AnySource.
func (c *Comm) Probe(ctx context.Context, from, tag int) (Status, error) {
	st, _, err := c.probe(ctx, from, tag, false)
	return st, err
}

// TryProbe is Probe without waiting (MPI_Iprobe): it reports whether there is such a message.
func (c *Comm) TryProbe(from, tag int) (st Status, ok bool, err error) {
	return notYet(c.probe(over, from, tag, false))
}

// over is a context that has ended.
var over = func() context.Context {
	ctx, end := context.WithCancel(context.Background())
	end()
	return ctx
}()

// A Message is a message that has been matched and not been received so far (MPI_Message): no other receive can take
// it. Its Recv must be called. A Message is for one goroutine at a time.
type Message struct {
	c  *Comm
	m  message
	st Status
}

// MProbe is Probe, and takes the message away from all other receives.
func (c *Comm) MProbe(ctx context.Context, from, tag int) (*Message, Status, error) {
	st, m, err := c.probe(ctx, from, tag, true)
	return m, st, err
}

// TryMProbe is MProbe without waiting (MPI_Improbe): the Message is nil if there is none.
func (c *Comm) TryMProbe(from, tag int) (*Message, Status, error) {
	st, m, err := c.probe(over, from, tag, true)
	if _, _, err := notYet(st, m, err); err != nil || m == nil {
		return nil, Status{}, err
	}
	return m, st, nil
}

// notYet makes an answer of the error that a probe without waiting has given up.
func notYet(st Status, _ *Message, err error) (Status, bool, error) {
	if w, ok := err.(*weft.WaitError); ok && w.Err == context.Canceled {
		return Status{}, false, nil
	}
	return st, err == nil, err
}

// probe looks for a message, and takes it if taking is set. With a context that has ended it takes what has arrived,
// and does not wait.
func (c *Comm) probe(ctx context.Context, from, tag int, taking bool) (Status, *Message, error) {
	if from == ProcNull {
		return nothing, &Message{c: c, st: nothing}, nil
	}
	key, mask, err := c.pattern(from, tag)
	if err != nil {
		return Status{}, nil, err
	}
	w := c.w
	w.mu.Lock()
	defer w.unlock()
	r := w.get(c, from, key, mask)
	defer w.put(r)
	r.taking = taking
	r.look()
	w.probes = append(w.probes, r)
	defer func() { w.probes = drop(w.probes, r) }()
	if ctx == over {
		err = w.poll(r)
	}
	if err == nil && r.state == waiting {
		if ctx == over {
			err = &weft.WaitError{Doing: r.doing(), Err: context.Canceled}
		} else {
			err = w.wait(ctx, r)
		}
	}
	if err != nil {
		return Status{}, nil, err
	}
	if err := r.failure(); err != nil {
		return Status{}, nil, err
	}
	return r.status, &Message{c, r.got, r.status}, nil
}

// look ends a probe whose message has come, or cannot come. A message that a posted receive waits for is not to be
// seen. The lock is held.
func (r *receive) look() {
	c := r.c
	if err := c.over(); err != nil {
		r.end(err)
	} else if m, from, ok := c.q.Peek(r.source, r.key, r.mask); !ok {
		if err := c.why(r.source); err != nil {
			r.end(err)
		}
	} else if r.taking {
		r.post()
	} else {
		r.status = m.head.status(from)
		r.end(nil)
	}
}

// Recv receives the message into a buffer (MPI_Mrecv), as Comm.Recv does.
func (m *Message) Recv(ctx context.Context, b Buffer) (Status, error) {
	if m.st == nothing {
		return nothing, nil
	}
	if err := b.check(); err != nil {
		return Status{}, err
	}
	w := m.c.w
	w.mu.Lock()
	defer w.unlock()
	r := w.get(m.c, m.st.Source, m.m.head.key(), match.Exact) // another one of this tag, if its sender gives it up
	defer w.put(r)
	if err := m.c.over(); err != nil {
		return Status{}, err
	}
	r.into = b
	r.meet(m.st.Source, &m.m)
	w.bodies.put(m.m.body)
	m.m = message{offer: extend.Offer{}}
	m.st = nothing
	err := w.finish(ctx, r)
	return r.status, err
}
