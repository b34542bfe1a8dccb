package vmmc

import (
	"weft"
	"weft/internal/mutant"
)

// A log knows which transfers an export has that no redirection has taken, and which redirections wait for one. The
// endpoint's lock guards it.
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
		return &Redirection{ended: x.e.p.Signal()}
	}
	r := l.idle[n-1]
	l.idle = l.idle[:n-1]
	return r
}

// suits reports whether a redirection is for a transfer.
func (r *Redirection) suits(from, off int) bool {
	return r.off == off && (r.from == weft.Any || r.from == from)
}

// has reports whether there is a transfer from a rank to off.
func (l *matcher) has(from, off int) bool {
	for _, a := range l.open {
		if a.from == from && a.off == off {
			return true
		}
	}
	return false
}

// redirect gives the redirection its transfer, or lets it wait for one.
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

// forget takes a transfer out of those that can be redirected.
func (l *matcher) forget(a *arrival) {
	l.open = without(l.open, func(o *arrival) bool { return o == a })
	if a.whole {
		l.spare = append(l.spare, a)
	}
	for _, server := range l.servers {
		server.wake.Set()
	}
	l.servers = l.servers[:0]
}

// begin finds the redirection of a transfer that begins. If there is none the transfer needs room among the open ones,
// for which its server waits; then it is nil if the export has ended. The lock is held, but not while the server waits.
func (x *Export) begin(server *server, off, n int) *arrival {
	l := x.matcher
	for {
		if x.ended != nil {
			return nil
		}
		for i, r := range l.waiting {
			if r.suits(server.peer.rank, off) {
				if !mutant.On(mutant.RedirectTwice) {
					l.waiting = append(l.waiting[:i], l.waiting[i+1:]...)
				}
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

// overwritten forgets transfers that have landed where another one is going to.
func (l *matcher) overwritten(off, n int) {
	for i := 0; i < len(l.open); i++ {
		if a := l.open[i]; a.whole && a.off < off+n && off < a.off+a.n {
			l.forget(a)
			i--
		}
	}
}

// arrived ends a transfer.
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

// end ends what waits. Transfers that are landing end by themselves.
func (l *matcher) end(why error) {
	for _, r := range l.waiting {
		r.finish(Landing{}, why)
	}
	l.waiting = nil
	for _, server := range l.servers {
		server.wake.Set()
	}
}

// lose ends redirections for a rank that is gone, or if it was the last that imported the export, all.
func (l *matcher) lose(gone *weft.PeerError, last bool) {
	l.waiting = without(l.waiting, func(r *Redirection) bool {
		lost := r.from == gone.Rank || last && r.from == weft.Any
		if lost {
			r.finish(Landing{}, &weft.WaitError{Doing: "vmmc: redirection of export " + r.x.name, Err: gone})
		}
		return lost
	})
}
