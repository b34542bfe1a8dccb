package stress

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"weft"
	"weft/mpi"
)

// group begins the names of calls that take part in operations of a group.
const group = "group"

// begin begins what is under way when ranks end. Most of it needs the next rank.
func (r *endsRank) begin() {
	n := r.p.Size()
	next := (r.p.Rank() + 1) % n
	var others []int
	for rank := range n {
		if rank != r.p.Rank() {
			others = append(others, rank)
		}
	}
	to := []int{next}
	port := func(channel int) *weft.Port {
		q, err := r.p.OpenPort(channel, nil)
		if err != nil {
			r.fault("OpenPort", err)
		}
		return q
	}
	if r.stuck {
		full := port(1)
		quiet := port(2)
		long, err := r.p.Alloc(100_000) // the address of other memory differs from run to run
		if err != nil {
			r.fault("Alloc", err)
			return
		}
		r.call("send to a full peer", to, func(ctx context.Context) error { return full.Send(ctx, next, long[:10_000]) })
		r.call("long send", to, func(ctx context.Context) error { return quiet.Send(ctx, next, long) })
		started := port(4)
		r.call("started sends", to, func(ctx context.Context) error {
			op, err := started.StartSend(next, long[:50_000])
			if err != nil {
				return err
			}
			return op.Wait(ctx)
		})
		r.call("push to a full mailbox", to, func(ctx context.Context) error {
			s, err := r.p.AttachMailbox(ctx, next, "full")
			for err == nil {
				err = s.Push(ctx, make([]byte, 1000))
			}
			return err
		})
	}
	lonely := port(3)
	r.call("receive from a peer", to, func(ctx context.Context) error {
		_, err := lonely.RecvFrom(ctx, next)
		return err
	})
	anyone := port(5)
	r.call("any: receive", others, func(ctx context.Context) error { _, err := anyone.Recv(ctx); return err })
	r.call("calls in the background", nil, func(context.Context) error {
		_, err := lonely.TryRecv()
		r.p.Stats()
		return err
	})
	if r.libraries {
		quiet := port(6)
		r.call("any: await", others, func(ctx context.Context) error { return cmp.Or(quiet.Await(ctx), errEnough) })
		if !r.p.Simulated() { // connections wait in Go
			r.streams(next)
		}
	}
	r.locks(next)
	r.memory(next, others)
	all := r.p.Barrier("all", nil)
	r.call("barrier", others, func(ctx context.Context) error { return errors.Join(all.Wait(ctx), r.pause(ctx)) })
	r.call(group, others, func(ctx context.Context) error { return r.group(ctx, next, others) })
}

// fault notes that what should always work has not.
func (r *endsRank) fault(what string, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !errors.Is(err, weft.ErrClosed) && !errors.Is(err, weft.ErrPeer) {
		r.found = append(r.found, fmt.Sprintf("%s: %v", what, err))
	}
}

// locks takes what this rank keeps until it ends, and waits for what the next rank keeps: it gets that when the next
// rank has ended.
func (r *endsRank) locks(next int) {
	for _, c := range []struct {
		kind string
		take func(ctx context.Context, rank int) error
	}{
		{"lock", func(ctx context.Context, rank int) error {
			_, err := r.p.Lock(fmt.Sprint("lock ", rank), nil).Lock(ctx)
			return err
		}},
		{"read-write lock", func(ctx context.Context, rank int) error {
			_, err := r.p.RWLock(fmt.Sprint("desk ", rank)).Lock(ctx)
			return err
		}},
		{"permit", func(ctx context.Context, rank int) error {
			return r.p.Semaphore(fmt.Sprint("tools ", rank), 1, &weft.SemaphoreConfig{Undo: true}).Acquire(ctx, 1)
		}},
	} {
		r.call(c.kind, []int{next}, func(ctx context.Context) error {
			if err := c.take(ctx, r.p.Rank()); err != nil { // before the neighbour asks for it, or after
				return err
			}
			if err := r.p.Sleep(ctx, r.after/2); err != nil {
				return err
			}
			if err := c.take(ctx, next); err != nil {
				return err
			}
			return errEnough
		})
	}
}

// memory waits for words and mailboxes, and accesses those of the next rank.
func (r *endsRank) memory(next int, others []int) {
	region, err := r.p.OpenRegion(r.ctx, "words", 64, nil)
	if err != nil {
		r.fault("OpenRegion", err)
		return
	}
	_, err = r.p.OpenMailbox("full", nil)
	box, err2 := r.p.OpenMailbox("empty", nil)
	if err := errors.Join(err, err2); err != nil {
		r.fault("OpenMailbox", err)
		return
	}
	r.call("any: word", others, func(ctx context.Context) error { _, err := region.Await(ctx, 0, 0); return err })
	r.call("any: mailbox", others, func(ctx context.Context) error { _, err := box.Next(ctx); return err })
	r.call("atomics", nil, func(ctx context.Context) error { // the region of a rank that has returned is there
		far, err := region.At(ctx, next)
		for err == nil {
			if _, err = far.FetchAdd(ctx, 8, 1); err == nil {
				err = r.pause(ctx)
			}
		}
		return err
	})
}

// pause is between calls that go on and on.
func (r *endsRank) pause(ctx context.Context) error { return r.p.Sleep(ctx, r.after/8) }

// group takes part in operations of a group of all ranks, until one has ended.
func (r *endsRank) group(ctx context.Context, next int, others []int) (err error) {
	world := mpi.World(r.p)
	if r.libraries {
		err = r.windows(ctx, world, next, others)
	}
	for err == nil {
		if err = mpi.AllReduce(ctx, world, []int64{1}, mpi.Sum); err == nil {
			err = r.pause(ctx)
		}
	}
	return err
}
