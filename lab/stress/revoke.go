package stress

import (
	"context"
	"errors"
	"fmt"

	"weft"
	"weft/mpi"
)

// revoke: members wait for one of them on a channel, which that one revokes. Each wait ends
// with what it has said, or with its death; and the channel is of no use any more.
func revoke(s *scene) {
	a := s.actor(s.name + " main")
	defer a.end()
	channel := 25_000 + s.number
	port, ok := open(a, channel)
	if !ok {
		return
	}
	by := s.members[s.shared.IntN(len(s.members))]
	reason := fmt.Sprintf("scene %d is over", s.number)
	if a.p.Rank() == by {
		a.meet(s, "all are there")
		if !a.quit {
			a.do("Port.Revoke", func() error { port.Revoke(s.members, errors.New(reason)); return nil })
			a.want("Recv on a channel that this rank has revoked", weft.ErrRevoked,
				func() error { _, err := port.Recv(a.ctx); return err })
			a.progress.Add(1)
		}
		return
	}
	a.meet(s, "all are there")
	for i := range 1 + a.rng.IntN(3) {
		s.act(fmt.Sprint("waits ", i), func(b *actor) {
			var err error
			switch b.rng.IntN(3) {
			case 0:
				err = b.do("RecvFrom the rank that revokes", func() error { _, err := port.RecvFrom(b.ctx, by); return err })
			case 1:
				err = b.do("RecvInto, until the channel is revoked",
					func() error { _, err := port.RecvIntoFrom(b.ctx, by, make([]byte, 8)); return err })
			default:
				err = b.do("Send of a long message to the rank that revokes",
					func() error { return port.Send(b.ctx, by, make([]byte, 100_000)) })
			}
			b.revoked(err, channel, by, reason)
		})
	}
	a.do("wait for the goroutines", func() error { s.group.Wait(); return nil })
	if !a.quit {
		_, err := a.p.OpenPort(channel, nil)
		if err == nil {
			a.found("%s: a channel is opened again that rank %d has revoked, or that is open", a.name, by)
		}
	}
}

// revoked checks how a wait ended that only a revocation can end, or the death of the rank
// that revokes.
func (a *actor) revoked(err error, channel, by int, reason string) {
	var r *weft.RevokedError
	switch {
	case err == nil:
		a.found("%s: a wait on a channel on which nothing is sent has ended without an error", a.name)
	case errors.As(err, &r) && (r.By != by || r.Channel != channel || r.Reason != reason || r.Gone >= 0):
		a.found("%s: %+v, not by rank %d, %q", a.name, *r, by, reason)
	case errors.As(err, &r):
		a.progress.Add(1)
	default:
		a.judge("a wait on a channel that is revoked", err, false)
	}
}

// abandon: members of a group operate together, and now and then one of them gives up. The
// operation of each ends, with the right result or because the group is broken; and then
// the group is of no use any more.
func abandon(s *scene) {
	a := s.actor(s.name + " main")
	defer a.end()
	var group *mpi.Comm
	err := a.do("CreateGroup", func() (err error) { group, err = comm(a, s, 0); return err })
	if !a.abandoned("CreateGroup", err, a.ctx) { // a member that is ahead may have given up
		return
	}
	broken := false
	for range 1 + s.shared.IntN(15) {
		o := operation{
			a: a, g: group, which: s.shared.IntN(8), root: s.shared.IntN(group.Size()), n: 1 + s.shared.IntN(12_000),
		}
		quitter := s.shared.IntN(4 * group.Size())
		o.call = func(what string, f func(ctx context.Context) error) bool {
			ctx := a.ctx
			cancel := context.CancelFunc(func() {})
			if quitter == group.Rank() {
				ctx, cancel = a.brief(a.ctx)
			}
			defer cancel()
			err := a.do(what+", which a member may give up", func() error { return f(ctx) })
			broken = err != nil
			return a.abandoned(what, err, ctx)
		}
		if !o.run() {
			break
		}
	}
	if broken && !a.quit {
		err := a.do("Barrier of a broken group", func() error { return group.Barrier(a.ctx) })
		if err == nil {
			a.found("%s: a group goes on that was broken", a.name)
		}
	}
	err = a.do("Comm.Free", func() error { return group.Free(a.ctx) })
	if !errors.Is(err, weft.ErrRevoked) {
		a.judge("Comm.Free", err, false)
	}
}

// abandoned reports whether a collective operation that a member may give up has come to
// its end.
func (a *actor) abandoned(what string, err error, ctx context.Context) bool {
	var r *mpi.RevokedError
	switch {
	case errors.As(err, &r) && r.Gone < 0 && a.ctx.Err() == nil && !a.leaving.Load():
		a.progress.Add(1) // another has given up
	case err != nil && a.ctx.Err() == nil && ctx.Err() != nil && errors.Is(err, ctx.Err()):
		a.progress.Add(1)
	default:
		return a.judge(what, err, false) == fine
	}
	return false
}
