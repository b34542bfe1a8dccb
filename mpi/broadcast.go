package mpi

import "context"

// scatterBytes is the length in bytes from which on Broadcast scatters the slice first, so that
// every member sends a part and the root does not send everything.
const scatterBytes = 256 << 10

// Broadcast copies the elements of the root into the buffers of all members, all of one length. Less than 256 KiB go
// down a binomial tree; longer ones are scattered, and gathered round a ring (van de Geijn's algorithm).
//
// Members that call it with different roots get a MismatchError: in this call, or if they were through before
// that could be seen, in the next one, at the latest in Free.
func (c *Comm) Broadcast(ctx context.Context, b Buffer, root int) error {
	k, err := c.plan(OpBroadcast, root, b, b.count(), nil).begin()
	if err == nil {
		err = k.broadcast(ctx, b, root)
	}
	return k.end(err)
}

// StartBroadcast begins a Broadcast (MPI_Ibcast).
func (c *Comm) StartBroadcast(b Buffer, root int) (*Request, error) {
	return c.plan(OpBroadcast, root, b, b.count(), func(ctx context.Context, k *call) error {
		return k.broadcast(ctx, b, root)
	}).start()
}

func (k *call) broadcast(ctx context.Context, b Buffer, root int) error {
	n := k.c.group.n
	if n > 2 && b.bytes() >= scatterBytes && b.count() >= n {
		return k.broadcastScattered(ctx, b, root)
	}
	me := (k.c.me - root + n) % n
	bit := 1
	for ; bit < n; bit <<= 1 {
		if me&bit != 0 {
			if err := k.receiveFrom(ctx, (me-bit+root)%n, b); err != nil {
				return err
			}
			break
		}
	}
	for bit >>= 1; bit > 0; bit >>= 1 {
		if me+bit < n {
			if err := k.sendTo(ctx, (me+bit+root)%n, b); err != nil {
				return err
			}
		}
	}
	return nil
}

// broadcastScattered is Broadcast by scatter and ring all-gather.
func (k *call) broadcastScattered(ctx context.Context, b Buffer, root int) error {
	n := k.c.group.n
	m := newRoom()
	defer m.put()
	f := b.flat(m)
	at := func(i int) Buffer { return f.cut(share(f.count(), n, i)) }
	if k.c.me == root {
		for i := range n {
			if i != root {
				if err := k.sendTo(ctx, i, at(i)); err != nil {
					return err
				}
			}
		}
	} else if err := k.receiveFrom(ctx, root, at(k.c.me)); err != nil {
		return err
	}
	if err := k.ring(ctx, at); err != nil {
		return err
	}
	if b.at != nil && k.c.me != root {
		b.unpack(f.b)
	}
	return nil
}

// ring passes the parts of all members round, until all members have all.
func (k *call) ring(ctx context.Context, part func(member int) Buffer) error {
	n := k.c.group.n
	me := k.c.me
	for step := range n - 1 {
		err := k.exchange(ctx, (me+1)%n, part((me-step+n)%n), (me+n-1)%n, part((me-step-1+n)%n))
		if err != nil {
			return err
		}
	}
	return nil
}

// share returns the i-th of n parts of nearly equal length; the first parts are the longest.
func share(length, n, i int) (from, to int) {
	each := length / n
	more := length % n
	from = i*each + min(i, more)
	to = from + each
	if i < more {
		to++
	}
	return from, to
}

// Barrier returns when all members have called it. It takes dissemination, ⌈log2 n⌉ rounds
// [Hensgen88].
func (c *Comm) Barrier(ctx context.Context) error {
	return c.plan(OpBarrier, -1, none, 0, barrier).do(ctx)
}

// StartBarrier begins a Barrier (MPI_Ibarrier).
func (c *Comm) StartBarrier() (*Request, error) {
	return c.plan(OpBarrier, -1, none, 0, barrier).start()
}

// none is a buffer without elements.
var none = Of([]byte(nil))

func barrier(ctx context.Context, k *call) error {
	n := k.c.group.n
	for bit := 1; bit < n; bit <<= 1 {
		if err := k.exchange(ctx, (k.c.me+bit)%n, none, (k.c.me-bit+n)%n, none); err != nil {
			return err
		}
	}
	return nil
}
