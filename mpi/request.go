package mpi

import (
	"context"
	"errors"
	"sync/atomic"

	"weft"
	"weft/internal/match"
)

// A Request is an operation that has been started and goes on while the program does something else (MPI_Isend,
// MPI_Irecv and others). Until Wait has returned, or Test has reported its end, its buffers must not be used. Then
// Start begins the same operation again, with the same buffers (MPI_Send_init, MPI_Start): for a send or a receive
// that allocates nothing. A Request needs not be given back. It is for one goroutine at a time.
type Request struct {
	c      *Comm
	op     operation
	going  bool // it has been started, and Wait has not been called since
	status Status
	err    error
}

// An operation is what a request does.
type operation interface {
	start() error
	wait(ctx context.Context) (Status, error)
	test() bool // whether wait would return at once
	watch()     // from now on the end of the operation wakes the goroutines in await
}

// ErrStarted says that a request goes on, and cannot be started.
var ErrStarted = errors.New("mpi: the request goes on: Wait for its end before it is started again")

// begin starts a new request.
func (q *Request) begin() (*Request, error) {
	if err := q.Start(); err != nil {
		return nil, err
	}
	return q, nil
}

// Start begins the operation of a request that has ended once more.
func (q *Request) Start() error {
	if q.going {
		return ErrStarted
	}
	q.status = Status{}
	q.err = nil
	err := q.op.start()
	q.going = err == nil
	return err
}

// Wait waits for the end of the operation, and returns its status and its error. If ctx ends first, the operation is
// given up as a call that waits would be, and the error is a weft.WaitError. Of a request that has ended already it
// returns the same again.
func (q *Request) Wait(ctx context.Context) (Status, error) {
	if q.going {
		q.status, q.err = q.op.wait(ctx)
		q.going = false
	}
	return q.status, q.err
}

// Test reports whether the operation has ended. Then its status and its error are those of Wait.
func (q *Request) Test() (done bool, st Status, err error) {
	if q.going && !q.op.test() {
		return false, Status{}, nil
	}
	st, err = q.Wait(context.Background())
	return true, st, err
}

// Cancel gives the operation up, unless it has ended, and reports whether it has done so: then its effect is that of a
// call whose context has ended, and Wait returns an error that matches context.Canceled.
func (q *Request) Cancel() bool {
	over, end := context.WithCancel(context.Background())
	end()
	_, err := q.Wait(over)
	return errors.Is(err, context.Canceled)
}

// A background is a goroutine that does something for a request.
type background struct {
	task *weft.Task
	end  context.CancelFunc
	err  error
	over atomic.Bool // it is done: the goroutine itself ends a little later
}

// begin has a goroutine do something. When it is done, the goroutines in await look again.
func (g *background) begin(w *world, do func(ctx context.Context) error) {
	var ctx context.Context
	ctx, g.end = context.WithCancel(context.Background())
	g.over.Store(false)
	g.task = w.p.Go(func() {
		g.err = do(ctx)
		g.over.Store(true)
		w.mu.Lock()
		w.changed()
		w.unlock()
	})
}

// wait waits until it is done, and no longer than ctx allows.
func (g *background) wait(ctx context.Context) error {
	if g.task.Wait(ctx) != nil {
		g.end()
		_ = g.task.Wait(context.Background()) // it ends, since its context has
	}
	g.end()
	g.task = nil
	return g.err
}

// A sendOp is the operation of StartSend and StartSsend.
type sendOp struct {
	c       *Comm
	b       Buffer
	to, tag int
	form    form
	s       sending
	ack     *receive   // of a synchronous send of few elements
	g       background // waits for s, if a goroutine is in await
}

// StartSend begins a Send (MPI_Isend). It never waits.
func (c *Comm) StartSend(b Buffer, to, tag int) (*Request, error) {
	return c.startSend(b, to, tag, inline)
}

// StartSsend begins an Ssend (MPI_Issend).
func (c *Comm) StartSsend(b Buffer, to, tag int) (*Request, error) {
	return c.startSend(b, to, tag, synchronous)
}

func (c *Comm) startSend(b Buffer, to, tag int, f form) (*Request, error) {
	q := &struct {
		Request
		op sendOp
	}{op: sendOp{c: c, b: b, to: to, tag: tag, form: f}}
	q.Request = Request{c: c, op: &q.op}
	return q.begin()
}

func (o *sendOp) start() error {
	if o.to == ProcNull {
		return nil
	}
	c := o.c
	h, err := c.prepare(&o.b, o.to, o.tag)
	if err != nil {
		return err
	}
	if o.form == synchronous && o.b.bytes() <= whole { // a longer one ends when it has been taken anyway
		o.expectAck(&h)
	}
	if err := o.s.start(c, o.to, &h, &o.b); err != nil {
		o.s.cancel()
		_ = o.acknowledged(over, err) // which gives the receive back
		return c.sent(err)
	}
	return nil
}

// expectAck posts the receive of the acknowledgement of a message.
func (o *sendOp) expectAck(h *header) {
	c := o.c
	c.w.mu.Lock()
	defer c.w.unlock()
	c.sends++
	h.form = synchronous
	h.root = int32(c.sends)
	o.ack = c.w.get(c, o.to, tagKey(acknowledgement, h.root), match.Exact)
	o.ack.post()
}

// acknowledged waits for the acknowledgement, unless the send has failed.
func (o *sendOp) acknowledged(ctx context.Context, err error) error {
	r := o.ack
	if r == nil {
		return err
	}
	w := o.c.w
	w.mu.Lock()
	defer w.unlock()
	if err != nil {
		o.c.q.Cancel(r.ticket)
	} else {
		err = w.finish(ctx, r)
	}
	w.put(r)
	o.ack = nil
	return err
}

func (o *sendOp) wait(ctx context.Context) (Status, error) {
	if o.g.task != nil {
		return Status{}, o.g.wait(ctx)
	}
	return Status{}, o.acknowledged(ctx, o.s.wait(ctx, o.c))
}

func (o *sendOp) test() bool {
	switch {
	case o.g.task != nil:
		return o.g.over.Load()
	case !o.s.done():
		return false
	case o.ack == nil:
		return true
	}
	w := o.c.w
	w.mu.Lock()
	defer w.unlock()
	w.glance(o.ack)
	return o.ack.state == ended
}

func (o *sendOp) watch() {
	if o.g.task == nil && !o.s.done() {
		o.g.begin(o.c.w, func(ctx context.Context) error { return o.acknowledged(ctx, o.s.wait(ctx, o.c)) })
	}
}

// glance takes what has arrived. A receive that cannot go on ends. The lock is held.
func (w *world) glance(r *receive) {
	if err := w.poll(r); err != nil && r.state == waiting {
		r.c.q.Cancel(r.ticket)
		r.end(err)
	}
}

// await waits until ready reports true, looking again when a request may have ended. If none of the requests goes on
// it does not wait.
func await(ctx context.Context, qs []*Request, ready func() bool) error {
	var c *Comm
	for _, q := range qs {
		if q != nil && q.going {
			c = q.c
			q.op.watch()
		}
	}
	if c == nil {
		return nil
	}
	w := c.w
	w.mu.Lock()
	d := w.get(c, 0, 0, match.Exact) // matches nothing: it is not posted
	w.watching = append(w.watching, d)
	w.mu.Unlock()
	var err error
	for err == nil && !ready() {
		w.mu.Lock()
		err = w.wait(ctx, d)
		d.state = waiting
		w.unlock()
	}
	w.mu.Lock()
	w.watching = drop(w.watching, d)
	w.put(d)
	w.mu.Unlock()
	return err
}

// changed wakes the goroutines in await. The lock is held.
func (w *world) changed() {
	for _, d := range w.watching {
		d.state = ended
		if d == w.driver { // it waits for the channel: a message that is none wakes it
			w.later(func() { _ = w.look.Note(nil) })
		} else {
			d.rouse()
		}
	}
}
