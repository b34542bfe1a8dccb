package mpi

import (
	"context"
	"sync"
)

// sendTo sends elements to a member, as part of the operation.
func (k *call) sendTo(ctx context.Context, to int, b Buffer) error {
	var s sending
	if err := k.startTo(&s, to, &b); err != nil {
		return err
	}
	return s.wait(ctx, k.c)
}

// startTo begins to send elements to a member.
func (k *call) startTo(s *sending, to int, b *Buffer) error {
	h := k.head
	h.kind = b.kind
	h.size = uint32(b.size)
	err := s.start(k.c, to, &h, b)
	if err != nil {
		s.cancel()
		return k.c.sent(err)
	}
	return nil
}

// receiveFrom receives as many elements as b has from a member, if that has called what this one has.
func (k *call) receiveFrom(ctx context.Context, from int, b Buffer) error {
	w := k.c.w
	w.mu.Lock()
	defer w.unlock()
	r := w.get(k.c, from, k.head.key(), ^uint64(0))
	defer w.put(r)
	r.into = b
	r.want = k
	r.begin(w.peek(k.c))
	return w.finish(ctx, r)
}

// exchange sends to one member and receives from one, at the same time. Either may be ProcNull.
func (k *call) exchange(ctx context.Context, to int, out Buffer, from int, in Buffer) error {
	var s sending
	if to != ProcNull {
		if err := k.startTo(&s, to, &out); err != nil {
			return err
		}
	}
	if from != ProcNull {
		if err := k.receiveFrom(ctx, from, in); err != nil {
			k.c.Revoke(err)
			_ = s.wait(over, k.c) // nobody will receive it, and the first error says more
			return err
		}
	}
	return s.wait(ctx, k.c)
}

// many are messages that are being sent at the same time.
type many struct{ s []sending }

var manies = sync.Pool{New: func() any { return new(many) }}

// exchanges sends to and receives from many members at the same time: out and in return what is sent and received in
// each of some steps, and the member.
func (k *call) exchanges(ctx context.Context, steps int, out, in func(step int) (member int, b Buffer)) (err error) {
	m := manies.Get().(*many)
	defer manies.Put(m)
	for len(m.s) < steps {
		m.s = append(m.s, sending{})
	}
	for step := 0; step < steps && err == nil; step++ {
		if to, b := out(step); to != ProcNull {
			err = k.startTo(&m.s[step], to, &b)
		}
	}
	for step := 0; step < steps && err == nil; step++ {
		if from, b := in(step); from != ProcNull {
			err = k.receiveFrom(ctx, from, b)
		}
	}
	if err != nil {
		k.c.Revoke(err)
		ctx = over
	}
	for step := range steps {
		if e := m.s[step].wait(ctx, k.c); err == nil {
			err = e
		}
	}
	return err
}
