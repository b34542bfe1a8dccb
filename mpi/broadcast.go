package mpi

import "context"

// barrier is a Barrier by dissemination [Hensgen88].
func (k *call) barrier(ctx context.Context) error {
	n := k.c.group.n
	for bit := 1; bit < n; bit <<= 1 {
		if err := k.exchange(ctx, (k.c.me+bit)%n, none, (k.c.me-bit+n)%n, none); err != nil {
			return err
		}
	}
	return nil
}

// broadcastTree is Broadcast down a binomial tree.
func (k *call) broadcastTree(ctx context.Context) error {
	n := k.c.group.n
	me := (k.c.me - k.root + n) % n
	bit := 1
	for ; bit < n; bit <<= 1 {
		if me&bit != 0 {
			if err := k.receiveFrom(ctx, (me-bit+k.root)%n, k.src.all); err != nil {
				return err
			}
			break
		}
	}
	for bit >>= 1; bit > 0; bit >>= 1 {
		if me+bit < n {
			if err := k.sendTo(ctx, (me+bit+k.root)%n, k.src.all); err != nil {
				return err
			}
		}
	}
	return nil
}

// broadcastScattered is Broadcast by scatter and ring all-gather, so that every member sends a part and the root does
// not send everything (van de Geijn's algorithm).
func (k *call) broadcastScattered(ctx context.Context) error {
	n := k.c.group.n
	b := &k.src.all
	f := k.flatten(b)
	at := func(i int) Buffer { return f.cut(share(f.count(), n, i)) }
	if k.c.me == k.root {
		for i := range n {
			if i != k.root {
				if err := k.sendTo(ctx, i, at(i)); err != nil {
					return err
				}
			}
		}
	} else if err := k.receiveFrom(ctx, k.root, at(k.c.me)); err != nil {
		return err
	}
	if err := k.ring(ctx, at); err != nil {
		return err
	}
	if b.at != nil && k.c.me != k.root {
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
