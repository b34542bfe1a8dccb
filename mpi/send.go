package mpi

import (
	"context"
	"sync"

	"weft"
	"weft/failure"
	"weft/internal/match"
)

// The longest elements, in bytes, that are copied behind their header if they must wait for room; and that travel in
// the message of their header. Longer ones are a message of their own, which is copied once.
const (
	copied = 1 << 10
	whole  = 1<<15 - headSize
)

// An envelope is memory for a header and few elements.
type envelope [headSize + copied]byte

var envelopes = sync.Pool{New: func() any { return new(envelope) }}

// A sending is a message that is being sent. The zero sending is none.
type sending struct {
	to     int
	ops    [2]*weft.Op // header and elements
	sent   *envelope   // that they use
	packed *room       // likewise
}

// start begins to send a message. It never waits. The elements must stay what they are until wait has returned.
func (s *sending) start(c *Comm, to int, h *header, b *Buffer) error {
	w := c.w
	s.to = to
	rank := c.group.at(to)
	n := b.bytes()
	port := w.short.of(c, h.class)
	if n <= whole {
		err := s.try(port, rank, h, b, n)
		if err != weft.ErrWouldBlock {
			return err
		}
	}
	if n <= copied {
		e := envelopes.Get().(*envelope)
		head := h.shorten()
		h.put(e[:])
		b.pack(e[head : head+n])
		return s.begin(0, port, rank, e, e[:head+n])
	}
	body := b.b
	if b.at != nil {
		s.packed = newRoom()
		body = s.packed.get(n)
		b.pack(body)
	}
	h.form = apart
	e := envelopes.Get().(*envelope)
	h.put(e[:])
	if err := w.ordering.Wait(context.Background()); err != nil { // the Proc is closed
		envelopes.Put(e)
		return err
	}
	defer w.ordering.Set()
	if err := s.begin(0, port, rank, e, e[:headSize]); err != nil {
		return err
	}
	return s.begin(1, w.long.of(c, h.class), rank, nil, body)
}

// try sends a message of n bytes, with its header, if that is possible at once.
func (s *sending) try(port handle, rank int, h *header, b *Buffer, n int) error {
	head := h.shorten()
	if b.at == nil {
		var first [headSize]byte
		h.put(first[:])
		return port.x.TrySendParts(rank, first[:head], b.b)
	}
	d, err := port.TryReserve(rank, head+n)
	if err != nil {
		return err
	}
	h.put(d.Data)
	b.pack(d.Data[head:])
	return d.Commit(context.Background())
}

// begin starts to send bytes, which lie in an envelope, or in none.
func (s *sending) begin(i int, port handle, rank int, e *envelope, b []byte) error {
	op, err := port.StartSend(rank, b)
	s.ops[i] = op
	if op == nil && e != nil {
		envelopes.Put(e)
	} else if e != nil {
		s.sent = e
	}
	return err
}

// done reports whether wait would return at once.
func (s *sending) done() bool {
	for _, op := range s.ops {
		if op != nil && !op.Done() {
			return false
		}
	}
	return true
}

// wait waits until the elements have been copied or received.
func (s *sending) wait(ctx context.Context, c *Comm) (err error) {
	if s.ops[0] == nil && s.ops[1] == nil {
		s.free()
		return nil
	}
	waits := !s.done()
	c.w.mu.Lock()
	b := c.bind(ctx)
	if waits && c.family.parent != nil {
		defer c.w.forgetSend(c.w.watchSend(c, s.to))
	}
	c.w.unlock()
	if waits && c.w.loose.Load() > 0 {
		defer c.w.drive()() // its receiver may wait for what a receive of this rank is to take
	}
	for i, op := range s.ops {
		if op == nil {
			continue
		}
		if e := op.Wait(b); err == nil {
			err = e
		}
		op.Free()
		s.ops[i] = nil
	}
	s.free()
	if left(err) {
		c.w.catchUp()
	}
	c.w.mu.Lock()
	defer c.w.mu.Unlock()
	c.unbind(b)
	if err != nil && c.revoked != nil {
		return c.reason()
	}
	return err
}

// free gives the memory of the message back.
func (s *sending) free() {
	if s.sent != nil {
		envelopes.Put(s.sent)
		s.sent = nil
	}
	if s.packed != nil {
		s.packed.put()
		s.packed = nil
	}
}

// Send sends the elements of a buffer to a rank of the communicator, with a tag from 0 on. It returns when the program
// may use them again: up to 32 KiB have been copied by then, more have been received. If ctx ends first, the message
// has not been sent. A send to ProcNull does nothing.
func (c *Comm) Send(ctx context.Context, b Buffer, to, tag int) error {
	var s sending
	if err := c.startSending(&s, &b, to, tag); err != nil {
		return err
	}
	return s.wait(ctx, c)
}

// startSending begins to send a buffer to a rank, or does nothing if that is ProcNull. If there is no error s.wait must
// follow.
func (c *Comm) startSending(s *sending, b *Buffer, to, tag int) error {
	if to == ProcNull {
		return nil
	}
	h, err := c.prepare(b, to, tag)
	if err != nil {
		return err
	}
	if err := s.start(c, to, &h, b); err != nil {
		s.cancel()
		return c.sent(err)
	}
	return nil
}

// Ssend is Send, and returns when a receive has taken the message. If ctx ends first, the receiver may have taken it.
func (c *Comm) Ssend(ctx context.Context, b Buffer, to, tag int) error {
	o := sendOp{c: c, b: b, to: to, tag: tag, form: synchronous}
	if err := o.start(); err != nil {
		return err
	}
	_, err := o.wait(ctx)
	return err
}

// prepare checks the arguments of a send, and returns the header of its message.
func (c *Comm) prepare(b *Buffer, to, tag int) (h header, err error) {
	if err = b.check(); err == nil {
		err = c.has(to)
	}
	if err == nil {
		err = checkTag(tag)
	}
	if err == nil && c.ended.Load() {
		c.w.mu.Lock()
		err = c.over()
		c.w.mu.Unlock()
	}
	h.comm = c.id
	h.tag = int32(tag)
	b.describe(&h)
	return h, err
}

// maxTag is the largest tag.
const maxTag = 1<<31 - 1

func checkTag(tag int) error {
	if tag < 0 || tag > maxTag {
		return &weft.ConfigError{Field: "tag", Value: tag, Min: 0, Max: maxTag}
	}
	return nil
}

// cancel ends what has been begun of a message that could not be begun as a whole.
func (s *sending) cancel() {
	over, end := context.WithCancel(context.Background())
	end()
	for i, op := range s.ops {
		if op != nil {
			_ = op.Wait(over) // the error that is known says more
			op.Free()
			s.ops[i] = nil
		}
	}
	s.free()
}

// sent returns the error of a send that could not be begun.
func (c *Comm) sent(err error) error { return failure.Waited(c.unmet(err), "send in "+c.String(), "") }

// Rsend is Send for a receive that has been posted (MPI_Rsend). Nothing is gained by knowing that.
func (c *Comm) Rsend(ctx context.Context, b Buffer, to, tag int) error {
	return c.Send(ctx, b, to, tag)
}

// Recv receives a message with a tag, or AnyTag, from a rank of the communicator, or from AnySource, into a buffer, and
// waits for it. Messages of one sender that match are received in the order in which they were sent; and a receive has
// priority over receives that are posted later. The message may have fewer elements than the buffer. A longer one is a
// [TruncateError], one of elements of another type a [TypeError]; in both cases it is gone.
//
// If ctx ends first the receive is withdrawn, nothing is lost, and the error is a weft.WaitError. If the source has
// gone the error contains a weft.PeerError, as soon as no message of it is left. A receive from AnySource is told of
// each death once, and of ranks that leave in good order only when no other member is left.
func (c *Comm) Recv(ctx context.Context, b Buffer, from, tag int) (Status, error) {
	if from == ProcNull {
		return nothing, nil
	}
	key, mask, err := c.pattern(from, tag)
	if err == nil {
		err = b.check()
	}
	if err != nil {
		return Status{}, err
	}
	w := c.w
	w.mu.Lock()
	whole := w.peek(c)
	if whole {
		if st, ok := c.receive(&b, from, key, mask); ok {
			w.unlock()
			return st, nil
		}
	}
	defer w.unlock()
	r := w.get(c, from, key, mask)
	defer w.put(r)
	r.into = b
	r.begin(whole)
	err = w.finish(ctx, r)
	return r.status, err
}

// pattern returns what a receive from a rank with a tag takes.
func (c *Comm) pattern(from, tag int) (key, mask uint64, err error) {
	if from != AnySource {
		err = c.has(from)
	}
	if tag == AnyTag {
		return tagKey(pointToPoint, 0), classMask, err
	}
	if err == nil {
		err = checkTag(tag)
	}
	return tagKey(pointToPoint, int32(tag)), match.Exact, err
}

// SendRecv sends one buffer and receives into another one, at the same time. The two ranks may be the same, and may be
// this one or ProcNull.
func (c *Comm) SendRecv(
	ctx context.Context, out Buffer, to, sendTag int, in Buffer, from, recvTag int,
) (Status, error) {
	var s sending
	if err := c.startSending(&s, &out, to, sendTag); err != nil {
		return Status{}, err
	}
	st, err := c.Recv(ctx, in, from, recvTag)
	if err != nil {
		_ = s.wait(over, c) // the first error says more
		return st, err
	}
	return st, s.wait(ctx, c)
}

// SendRecvReplace is SendRecv with one buffer, whose elements are replaced by what is received.
func (c *Comm) SendRecvReplace(ctx context.Context, b Buffer, to, sendTag, from, recvTag int) (Status, error) {
	memory := newRoom()
	defer memory.put()
	out := b
	out.at = nil
	out.b = memory.get(b.bytes())
	b.pack(out.b)
	return c.SendRecv(ctx, out, to, sendTag, b, from, recvTag)
}
