package stress

import (
	"context"
	"errors"
	"fmt"
	"time"

	"weft"
)

// hammer starts goroutines that go on with weft while the Proc is closed under them, as
// those of a server do when main has returned: each call returns, in the end ErrClosed.
func (r *rank) hammer() {
	rng := chance(r.seed, "hammer", r.p.Rank())
	if rng.IntN(4) == 0 || !r.plays("hammer") {
		return
	}
	const channel = 60000
	port, err := r.p.OpenPort(channel, nil)
	if err != nil {
		r.found("hammer: Open: %v", err)
		return
	}
	box, err := r.p.OpenMailbox("hammer", nil)
	if err != nil {
		r.found("hammer: Mailbox: %v", err)
		return
	}
	_, err = r.p.OpenRegion(r.ctx, "hammer", hammerWords+r.p.Size()*hammers*hammerPush, nil)
	if err != nil {
		r.found("hammer: Expose: %v", err)
		return
	}
	for i := range 2 + rng.IntN(hammers-1) {
		a := r.actor(fmt.Sprintf("hammer %d", i))
		r.p.Go(func() {
			defer a.end()
			h := &hammer{a, port, box, hammerWords + (r.p.Rank()*hammers+i)*hammerPush}
			for !r.closed(h.strike()) {
				a.progress.Add(1)
			}
		})
	}
	_ = r.p.Sleep(r.ctx, time.Duration(rng.IntN(20_000))*time.Microsecond)
}

// closed reports whether a goroutine has hammered enough: the Proc has been closed.
func (r *rank) closed(err error) bool {
	return err != nil && r.leaving.Load() || r.ctx.Err() != nil || r.over.Load() && errors.Is(err, weft.ErrClosed)
}

// A region for hammering has some words for atomic operations, and then a place for each goroutine of each rank to
// push to: writes to one place at the same time would be a race of the program's.
const (
	hammerWords = 64
	hammerPush  = 104
	hammers     = 7 // goroutines of a rank at most
)

type hammer struct {
	*actor
	port  *weft.Port
	box   *weft.Mailbox
	place int // in the regions of all ranks
}

// strike does one thing to another rank, or to this one.
func (h *hammer) strike() error {
	to := h.rng.IntN(h.p.Size())
	ctx, cancel := h.within(context.Background(), 5*time.Millisecond)
	defer cancel()
	what := h.rng.IntN(10)
	if what == 7 && h.p.Simulated() {
		what = 8 // senders to one mailbox wait for each other in Go, which costs time in the simulator
	}
	switch what {
	case 0:
		return h.do("Send", func() error { return h.port.Send(ctx, to, make([]byte, h.rng.IntN(100000))) })
	case 1, 2:
		return h.do("Reserve and Commit", func() error {
			d, err := h.port.Reserve(ctx, to, 100)
			if err == nil {
				err = d.Commit(ctx)
			}
			return err
		})
	case 3:
		return h.do("Recv", func() error { m, err := h.port.Recv(ctx); m.Release(); return err })
	case 4:
		return h.do("TryRecv", func() error { m, err := h.port.TryRecv(); m.Release(); return err })
	case 5:
		return h.do("Lock", func() error {
			l := h.p.Lock(fmt.Sprint("hammer ", h.rng.IntN(3)), nil)
			_, err := l.Lock(ctx)
			if err == nil {
				err = l.Unlock()
			}
			return err
		})
	case 6:
		return h.do("Remote", func() error {
			far, err := h.p.AttachRegion(ctx, to, "hammer")
			if err == nil {
				err = far.Push(ctx, h.place, make([]byte, 100))
			}
			return err
		})
	case 7:
		return h.do("Sender.Push", func() error {
			s, err := h.p.AttachMailbox(ctx, to, "hammer")
			if err == nil {
				err = s.Push(ctx, make([]byte, 100))
			}
			return err
		})
	case 8:
		return h.do("Mailbox.Next", func() error { d, err := h.box.Next(ctx); d.Release(); return err })
	default:
		return h.do("FetchAdd on the own region", func() error {
			far, err := h.p.AttachRegion(ctx, h.p.Rank(), "hammer")
			if err == nil {
				_, err = far.FetchAdd(ctx, 8, 1)
			}
			return err
		})
	}
}
