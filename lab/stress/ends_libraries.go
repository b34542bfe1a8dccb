package stress

import (
	"context"
	"errors"
	"net"
	"slices"

	"weft/mpi"
	streams "weft/stream"
)

// windows begins what windows have under way when ranks end, and operations on memory that members map. All members
// call it.
func (r *endsRank) windows(ctx context.Context, world *mpi.Comm, next int, others []int) error {
	near, err := world.SplitShared(ctx)
	if err != nil {
		return err
	}
	own, err := world.Dup(ctx)
	if err != nil {
		return err
	}
	shared, err := mpi.NewWindow[int64](ctx, near, 10)
	if err != nil {
		return err
	}
	var windows [5]*mpi.Window[int64]
	for i := range windows {
		if windows[i], err = mpi.NewWindow[int64](ctx, world, windowLength); err != nil {
			return err
		}
	}
	me := r.p.Rank()
	to := []int{next}
	g, err := world.Group().Include(next)
	if err != nil {
		return err
	}
	r.call("lock of a window", to, func(ctx context.Context) error {
		if err := errors.Join(windows[0].Lock(ctx, me), r.p.Sleep(ctx, r.after/2)); err != nil {
			return err
		}
		if err := windows[0].Lock(ctx, next); err != nil {
			return err
		}
		return errEnough
	})
	r.call("start of an epoch", to, func(ctx context.Context) error { return windows[1].Start(ctx, g) })
	r.call("end of an epoch", to, func(ctx context.Context) error {
		if err := windows[2].Post(ctx, g); err != nil {
			return err
		}
		return windows[2].Wait(ctx)
	})
	r.call(group+": fence", others, func(ctx context.Context) error {
		return errors.Join(windows[3].Accumulate(ctx, []int64{1}, next, 0, mpi.UpdateSum), windows[3].Fence(ctx), r.rest(ctx))
	})
	r.call("updates of a window", nil, func(ctx context.Context) error { return r.update(ctx, windows[4], next) })
	hosted := slices.DeleteFunc(near.Group().Ranks(), func(rank int) bool { return rank == me })
	if len(hosted) > 0 {
		r.call(group+": fence on a host", hosted, func(ctx context.Context) error {
			at := (near.Rank() + 1) % near.Size()
			return errors.Join(shared.Accumulate(ctx, []int64{1}, at, 0, mpi.UpdateSum), shared.Fence(ctx), r.rest(ctx))
		})
	}
	all, err := mpi.Alloc[int64](r.p, world.Size()*longElements)
	if err != nil {
		return err
	}
	r.call(group+": elements where they lie", others, func(ctx context.Context) error {
		return errors.Join(own.AllGather(ctx, mpi.InPlace, mpi.Of(all)), r.rest(ctx))
	})
	return nil
}

const (
	windowLength = 200  // elements: so many that an update of all takes the latches of all members
	longElements = 3000 // of a member: so many that the others read them where they lie
)

// rest sleeps between two heavy calls. Between light ones a rank pauses, which is shorter.
func (r *endsRank) rest(ctx context.Context) error { return r.p.Sleep(ctx, r.after/8+r.look/1000) }

// update updates single elements and many of them. The memory of a rank that has returned is there.
func (r *endsRank) update(ctx context.Context, w *mpi.Window[int64], at int) error {
	many := slices.Repeat([]int64{1}, windowLength)
	for i := range 20 {
		if err := w.Accumulate(ctx, many[:1], at, i, mpi.UpdateSum); err != nil {
			return err
		}
	}
	_, err := w.FetchOp(ctx, 1, at, 0, mpi.UpdateSum)
	return errors.Join(err, w.Accumulate(ctx, many, at, 0, mpi.UpdateSum), w.Flush(ctx, at), r.rest(ctx))
}

// streams begins what connections between ranks have under way. Their calls take no context: the end of one closes
// what they are made on.
func (r *endsRank) streams(next int) {
	var networks [2]*streams.Network
	for i := range networks {
		var err error
		if networks[i], err = streams.Open(r.p, 10+i); err != nil {
			r.fault("stream.Open", err)
			return
		}
	}
	l, err := networks[0].Listen()
	if err != nil {
		r.fault("Listen", err)
		return
	}
	to := []int{next}
	r.call("any: accept", nil, func(ctx context.Context) error {
		defer context.AfterFunc(ctx, func() { l.Close() })()
		_, err := l.Accept()
		return err
	})
	r.call("dial", to, func(ctx context.Context) error {
		_, err := networks[1].Dial(ctx, next)
		return err
	})
	for name, use := range map[string]func(c net.Conn) error{
		"read of a connection": func(c net.Conn) error { _, err := c.Read(make([]byte, 10)); return err },
		"write to a connection": func(c net.Conn) error {
			for {
				if _, err := c.Write(make([]byte, 10_000)); err != nil {
					return err
				}
			}
		},
	} {
		r.call(name, to, func(ctx context.Context) error {
			c, err := networks[0].Dial(ctx, next)
			if err != nil {
				return err
			}
			defer context.AfterFunc(ctx, func() { c.Close() })()
			return use(c)
		})
	}
}
