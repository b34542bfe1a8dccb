package mpi

import (
	"context"

	"weft/extend"
)

// A recvOp is the operation of StartRecv.
type recvOp struct {
	c         *Comm
	b         Buffer
	from, tag int
	r         *receive // nil: from ProcNull

	fetching bool               // another goroutine fetches a long message
	fetched  *extend.Signal     // it has done so
	end      context.CancelFunc // ends that, or nil
}

// StartRecv begins a Recv (MPI_Irecv): when it returns the receive has been posted.
func (c *Comm) StartRecv(b Buffer, from, tag int) (*Request, error) {
	q := &struct {
		Request
		op recvOp
	}{op: recvOp{c: c, b: b, from: from, tag: tag}}
	q.Request = Request{c: c, op: &q.op}
	return q.begin()
}

func (o *recvOp) start() error {
	if o.from == ProcNull {
		return nil
	}
	key, mask, err := o.c.pattern(o.from, o.tag)
	if err == nil {
		err = o.b.check()
	}
	if err != nil {
		return err
	}
	w := o.c.w
	w.mu.Lock()
	defer w.unlock()
	o.r = w.get(o.c, o.from, key, mask)
	o.r.into = o.b
	o.r.started = o
	o.r.post()
	w.loose.Add(1)
	return nil
}

func (o *recvOp) wait(ctx context.Context) (st Status, err error) {
	if o.r == nil {
		return nothing, nil
	}
	w := o.c.w
	w.mu.Lock()
	defer w.unlock()
	w.loose.Add(-1)
	o.r.started = nil
	if o.fetching {
		o.waitFetched(ctx)
	}
	err = w.finish(ctx, o.r)
	st = o.r.status
	w.put(o.r)
	o.r = nil
	return st, err
}

// fetchLater has the long message fetched that has come for a receive for which no goroutine waits: the program may be
// long in coming to Wait, and the sender waits. What is to be copied from memory is copied by the goroutine that gives
// the lock up; packets are a goroutine's. The lock is held.
func (o *recvOp) fetchLater() {
	r := o.r
	r.started = nil
	o.fetching = true
	o.release()
	if o.fetched == nil {
		o.fetched = extend.NewSignal(o.c.w.p)
	}
	if r.got.offer.Near() {
		o.c.w.later(func() { o.fetch(context.Background(), r) })
		return
	}
	var ctx context.Context
	ctx, o.end = context.WithCancel(context.Background())
	o.c.w.later(func() { o.c.w.p.Go(func() { o.fetch(ctx, r) }) })
}

// fetch fetches a long message. If its sender has given it up, the receive waits again, or has met the next one.
func (o *recvOp) fetch(ctx context.Context, r *receive) {
	w := o.c.w
	w.mu.Lock()
	defer w.unlock()
	if err := w.fetch(ctx, r); err != nil {
		r.end(err)
	}
	o.fetching = false
	switch r.state {
	case waiting:
		r.started = o
	case offered:
		o.fetchLater()
	}
	o.fetched.Set()
}

// release gives back what ends the goroutine that fetches, if there was one. The lock is held.
func (o *recvOp) release() {
	if o.end != nil {
		o.end()
		o.end = nil
	}
}

// waitFetched waits for the goroutine that fetches. The lock is held, but not meanwhile.
func (o *recvOp) waitFetched(ctx context.Context) {
	w := o.c.w
	b := o.c.bind(ctx)
	for o.fetching {
		end := o.end
		w.unlock()
		if end == nil || o.fetched.Wait(b) != nil {
			if end != nil {
				end()
			}
			_ = o.fetched.Wait(context.Background()) // it is a copy, or its context has ended
		}
		w.mu.Lock()
	}
	o.c.unbind(b)
	o.r.started = nil
	o.fetched.Reset()
	o.release()
}

// test takes what has arrived.
func (o *recvOp) test() bool {
	if o.r == nil {
		return true
	}
	w := o.c.w
	w.mu.Lock()
	defer w.unlock()
	w.glance(o.r)
	return o.r.state == ended && !o.fetching
}

func (o *recvOp) watch() {} // end and meet do so
