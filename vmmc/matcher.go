package vmmc

import (
	"slices"

	"weft"
	"weft/extend"
)

// A matcher matches the transfers to an export with its redirections: it holds the transfers that no
// redirection has taken, and the redirections that wait for a transfer. The endpoint's lock guards it.
type matcher struct {
	most    int
	open    []*arrival // in the order in which they began; landing, or landed
	waiting []*Redirection
	servers []*server // that wait for room in open
	spare   []*arrival
	idle    []*Redirection
}

// fresh returns a Redirection that is not in use.
func (l *matcher) fresh(x *Export) *Redirection {
	n := len(l.idle)
	if n == 0 {
		return &Redirection{ended: extend.NewSignal(x.e.p)}
	}
	r := l.idle[n-1]
	l.idle = l.idle[:n-1]
	return r
}

// suits reports whether a redirection is for a transfer from a rank to off.
func (r *Redirection) suits(from, off int) bool {
	return r.off == off && (r.from == weft.Any || r.from == from)
}

// has reports whether a transfer from a rank to off has not been taken.
func (l *matcher) has(from, off int) bool {
	for _, a := range l.open {
		if a.from == from && a.off == off {
			return true
		}
	}
	return false
}

// redirect gives a redirection its transfer, or queues it until there is one.
func (l *matcher) redirect(r *Redirection) {
	for _, a := range l.open {
		if r.suits(a.from, a.off) {
			a.taken(r)
			l.forget(a)
			return
		}
	}
	l.waiting = append(l.waiting, r)
}

// forget removes a transfer from those that can be redirected, which makes room for another one.
func (l *matcher) forget(a *arrival) {
	l.open = slices.DeleteFunc(l.open, func(o *arrival) bool { return o == a })
	if a.whole {
		l.spare = append(l.spare, a)
	}
	for _, server := range l.servers {
		server.wake.Set()
	}
	l.servers = l.servers[:0]
}

// begin returns a new arrival for a transfer that begins, with its redirection if one waits for it.
// Without one the transfer needs room among the open ones, for which its server waits. It returns
// nil if the export has ended. The lock is held, but not while the server waits.
func (x *Export) begin(server *server, off, n int) *arrival {
	l := x.matcher
	for {
		if x.ended != nil {
			return nil
		}
		for i, r := range l.waiting {
			if r.suits(server.peer.rank, off) {
				l.waiting = append(l.waiting[:i], l.waiting[i+1:]...)
				a := l.arrival(x, server, off, n)
				a.taken(r)
				return a
			}
		}
		l.overwritten(off, n)
		if len(l.open) < l.most {
			a := l.arrival(x, server, off, n)
			l.open = append(l.open, a)
			return a
		}
		l.servers = append(l.servers, server)
		x.e.mu.Unlock()
		err := server.wake.Wait(x.e.ctx)
		x.e.mu.Lock()
		if err != nil {
			return nil
		}
	}
}

// arrival returns an arrival for a transfer that begins.
func (l *matcher) arrival(x *Export, server *server, off, n int) *arrival {
	if len(l.spare) == 0 {
		l.spare = append(l.spare, new(arrival))
	}
	k := len(l.spare) - 1
	a := l.spare[k]
	l.spare = l.spare[:k]
	*a = arrival{x: x, from: server.peer.rank, off: off, n: n}
	return a
}

// overwritten forgets transfers that have arrived in memory into which a new transfer will be
// written.
func (l *matcher) overwritten(off, n int) {
	for i := 0; i < len(l.open); i++ {
		if a := l.open[i]; a.whole && a.off < off+n && off < a.off+a.n {
			l.forget(a)
			i--
		}
	}
}

// arrived ends a transfer, with an error or nil.
func (x *Export) arrived(a *arrival, err error) {
	l := x.matcher
	if err == nil {
		a.whole = true
		if a.to != nil {
			a.finish(nil)
			l.spare = append(l.spare, a)
		}
		return
	}
	if a.to == nil {
		l.forget(a)
		return
	}
	if err == ErrAborted || err == errPiece {
		err = &AbortedError{From: a.from, Len: a.n, Arrived: a.got}
	}
	a.finish(err)
}

// end ends all that waits, since the export has ended. Transfers that are arriving end by
// themselves.
func (l *matcher) end(why error) {
	for _, r := range l.waiting {
		r.finish(Landing{}, why)
	}
	l.waiting = nil
	for _, server := range l.servers {
		server.wake.Set()
	}
}

// lose ends the redirections that wait for a rank which has died or left. If last is set, that rank
// was the last one that imported the export, and redirections for any rank end, too.
func (l *matcher) lose(gone *weft.PeerError, last bool) {
	l.waiting = slices.DeleteFunc(l.waiting, func(r *Redirection) bool {
		lost := r.from == gone.Rank || last && r.from == weft.Any
		if lost {
			r.finish(Landing{}, &weft.WaitError{Doing: "vmmc: redirection of export " + r.x.name, Err: gone})
		}
		return lost
	})
}
