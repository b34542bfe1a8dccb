package stress

import (
	"context"
	"errors"
	"fmt"

	"weft"
)

// sundry: calls that need no other rank: calls that report, calls that are wrong and say so,
// and calls that would wait for ever, with contexts that end.
func sundry(s *scene) {
	a := s.actor(s.name + " main")
	defer a.end()
	port, ok := open(a, s.channel)
	if !ok {
		return
	}
	for range 10 + a.rng.IntN(30) {
		if a.quit {
			break
		}
		to := s.members[a.rng.IntN(len(s.members))]
		switch a.rng.IntN(12) {
		case 0:
			a.want("Open of an open channel", weft.ErrInUse, func() error { _, err := a.p.OpenPort(s.channel, nil); return err })
		case 1:
			a.want("Send to no rank", weft.ErrRank, func() error { return port.Send(a.ctx, a.p.Size(), nil) })
		case 2:
			a.want("TrySend of too much", weft.ErrTooLong, func() error { return port.TrySend(to, make([]byte, 40_000)) })
		case 3:
			a.do("reports", func() error { a.p.Stats(); a.p.Peers(); a.p.Waiting(); return nil })
			a.call("Connect", func() error { _, err := a.p.Connect(a.ctx, to); return err })
		case 4:
			a.ends("Attach of nothing",
				func(ctx context.Context) error { _, err := a.p.AttachRegion(ctx, to, "nothing "+s.name); return err })
		case 5:
			a.ends("Sender of nothing",
				func(ctx context.Context) error { _, err := a.p.AttachMailbox(ctx, to, "nothing "+s.name); return err })
		case 6:
			a.ends("Recv of nothing", func(ctx context.Context) error { _, err := port.Recv(ctx); return err })
			a.want("TryRecv of nothing", weft.ErrWouldBlock, func() error { _, err := port.TryRecv(); return err })
		case 7:
			sem := a.p.Semaphore("empty "+s.name, 0, nil)
			a.ends("Acquire of nothing", func(ctx context.Context) error { return sem.Acquire(ctx, 1) })
		case 8:
			a.call("Alloc and Free", func() error {
				b, err := a.p.Alloc(1 + a.rng.IntN(200_000))
				if err == nil {
					b[len(b)-1] = 1
					err = a.p.Free(b)
				}
				return err
			})
		case 9:
			a.regions(fmt.Sprintf("sundry %s %d", s.name, a.rng.Uint64()))
		case 10:
			r := a.p.Lock("nothing "+s.name, nil)
			a.want("Unlock of what is not held", weft.ErrNotHeld, r.Unlock)
		default:
			box, err := a.p.OpenMailbox(fmt.Sprintf("sundry %s %d", s.name, a.rng.Uint64()), nil)
			if a.judge("Mailbox", err, false) == fine {
				a.ends("Next of nothing", func(ctx context.Context) error { _, err := box.Next(ctx); return err })
				a.call("Mailbox.Close", box.Close)
				a.want("Next after Close", weft.ErrClosed, func() error { _, err := box.Next(a.ctx); return err })
			}
		}
	}
	a.call("Port.Close", port.Close)
	a.want("Recv after Close", weft.ErrClosed, func() error { _, err := port.Recv(a.ctx); return err })
}

// want makes a call that must fail with an error.
func (a *actor) want(what string, want error, f func() error) {
	err := a.do(what, f)
	a.progress.Add(1)
	if a.leaving.Load() || a.ctx.Err() != nil || errors.Is(err, weft.ErrPeer) {
		return
	}
	if !errors.Is(err, want) {
		a.found("%s: %s: %v, not %v", a.name, what, err, want)
	}
}

// ends makes a call that ends with its context.
func (a *actor) ends(what string, f func(ctx context.Context) error) {
	ctx, cancel := a.brief(a.ctx)
	defer cancel()
	err := a.do(what+", with a context that ends", func() error { return f(ctx) })
	if v := a.judge(what, err, true); v == fine {
		a.found("%s: %s did not fail", a.name, what)
	}
}

// regions exposes a region to itself, and uses it wrongly.
func (a *actor) regions(name string) {
	var r *weft.Region
	if a.call("Expose", func() (err error) {
		r, err = a.p.OpenRegion(a.ctx, name, 1+a.rng.IntN(10_000), &weft.RegionConfig{ReadOnly: true})
		return err
	}) != fine {
		return
	}
	var far *weft.Remote
	if a.call("At the own rank", func() (err error) { far, err = r.At(a.ctx, a.p.Rank()); return err }) == fine {
		a.want("Push to what may only be read", weft.ErrReadOnly, func() error { return far.Push(a.ctx, 0, []byte{1}) })
		a.want("Pull from outside", weft.ErrBounds,
			func() error { return far.Pull(a.ctx, make([]byte, 10), len(r.Bytes())-5) })
	}
	a.call("Region.Close", r.Close)
	if far != nil {
		a.want("Pull from a closed region", weft.ErrClosed, func() error { return far.Pull(a.ctx, make([]byte, 1), 0) })
	}
}
