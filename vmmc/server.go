package vmmc

import (
	"errors"
	"slices"

	"weft"
	"weft/extend"
)

// A server handles the requests of one rank, in their order, on a goroutine of its own. So a rank
// that is slow to take replies or to send pieces delays only its own requests.
type server struct {
	e     *Endpoint
	peer  *peer
	wake  *extend.Signal            // set when there is a request, or room in an export
	queue []frame                   // guarded by the endpoint's lock
	b     [frameSize + maxName]byte // a message while it is sent
}

// take queues a request. Requests beyond what a rank may have under way are dropped. The lock is
// held.
func (p *peer) take(e *Endpoint, f frame) {
	if p.server == nil {
		p.server = &server{e: e, peer: p, wake: extend.NewSignal(e.p)}
		if !e.closed {
			e.task(p.server.run)
		}
	}
	if len(p.server.queue) >= 2*maxRequests { // each may be given up as well
		return
	}
	if len(f.name) > 0 {
		f.name = append([]byte(nil), f.name...)
	} else {
		f.name = nil
	}
	p.server.queue = append(p.server.queue, f)
	p.server.wake.Set()
}

// wakeServer wakes the rank's server, if it has one.
func (p *peer) wakeServer() {
	if p.server != nil {
		p.server.wake.Set()
	}
}

// run handles requests until the endpoint is closed.
func (l *server) run() {
	for {
		l.e.mu.Lock()
		closed := l.e.closed
		n := len(l.queue)
		var f frame
		if n > 0 {
			f = l.queue[0]
			l.queue = append(l.queue[:0], l.queue[1:]...)
		}
		l.e.mu.Unlock()
		switch {
		case closed:
			return
		case n == 0:
			if l.wake.Wait(l.e.ctx) != nil {
				return
			}
		default:
			l.handle(f)
		}
	}
}

// handle does one request.
func (l *server) handle(f frame) {
	switch f.kind {
	case importing:
		l.e.wanted(l, f)
	case cancelled:
		l.e.mu.Lock()
		for name, ws := range l.e.pending {
			l.e.pending[name] = slices.DeleteFunc(ws, func(w pendingImport) bool { return w.rank == l.peer.rank && w.op == f.n })
		}
		l.e.mu.Unlock()
	case unimport:
		l.e.mu.Lock()
		if x := l.e.exports[f.export]; x != nil && x.imports[l.peer.rank] > 0 {
			if x.imports[l.peer.rank]--; x.imports[l.peer.rank] == 0 {
				delete(x.imports, l.peer.rank)
			}
		}
		l.e.mu.Unlock()
		l.answer(&f, fine)
	case revoke:
		l.e.revoked(l.peer, f)
		l.answer(&f, fine)
	case fence:
		l.answer(&f, fine)
	case data:
		l.transfer(&f)
	}
}

// answer replies to a request.
func (l *server) answer(f *frame, s status) { l.send(&frame{kind: done, status: s, op: f.op}) }

// send sends a message to the rank. It fails only if the rank is gone or the endpoint closed.
func (l *server) send(f *frame) { _ = l.e.control.Send(l.e.ctx, l.peer.rank, f.put(&l.b)) }

// transfer receives the data of a transfer to an export that can be redirected, and answers.
// The answer leaves before the program here hears of the transfer: the program may then close
// the endpoint, which ends what waits for room.
func (l *server) transfer(f *frame) {
	x, a, s := l.accept(f)
	if s != fine {
		l.answer(f, s)
		return
	}
	var err error
	if a.n > 0 {
		l.send(&frame{kind: ready, op: f.op})
		err = l.receive(a)
	}
	l.e.mu.Lock()
	switch {
	case err != nil:
		s = aborted
	case x.ended != nil:
		s = gone
	}
	l.e.mu.Unlock()
	reply := frame{kind: done, status: s, op: f.op}
	answered := l.e.control.TrySend(l.peer.rank, reply.put(&l.b)) == nil
	l.e.mu.Lock()
	x.arrived(a, err)
	l.e.mu.Unlock()
	x.leave()
	if !answered {
		l.send(&reply)
	}
	if f.notify && s == fine {
		l.forward(f)
	}
}

// accept begins a transfer to an export that can be redirected, or returns why it is refused.
func (l *server) accept(f *frame) (*Export, *arrival, status) {
	l.e.mu.Lock()
	x, s := l.e.target(l.peer.rank, f)
	var a *arrival
	if s == fine && x.matcher != nil {
		a = x.begin(l, int(f.off), int(f.n))
	}
	l.e.mu.Unlock()
	switch {
	case s != fine:
		return nil, nil, s
	case x.matcher == nil: // such an export is written to without a server
		x.leave()
		return nil, nil, refused
	case a == nil:
		x.leave()
		return nil, nil, gone
	}
	return x, a, fine
}

// receive receives the pieces of a transfer.
func (l *server) receive(a *arrival) error {
	size := pieceOf(a.n)
	for a.got < a.n {
		want := min(size, a.n-a.got)
		l.e.mu.Lock()
		dst, straight := a.place(want)
		l.e.mu.Unlock()
		n, err := l.e.bulk.RecvIntoFrom(l.e.ctx, l.peer.rank, dst)
		if errors.Is(err, weft.ErrTooLong) || err == nil && n != 0 && n != want {
			l.discard()
			err = errPiece
		}
		if err == nil && n == 0 {
			err = ErrAborted
		}
		if err != nil {
			return err
		}
		l.e.mu.Lock()
		a.landed(dst, straight)
		l.e.mu.Unlock()
	}
	return nil
}

// errPiece reports a piece of another length than announced, which a correct endpoint never sends.
var errPiece = errors.New("vmmc: a piece is not as long as it should be")

// discard drops the messages of a rank that breaks the protocol, until it gives up its transfer or
// is gone.
func (l *server) discard() {
	for {
		m, err := l.e.bulk.RecvFrom(l.e.ctx, l.peer.rank)
		if err != nil {
			return
		}
		n := len(m.Data)
		m.Release()
		if n == 0 {
			return
		}
	}
}

// forward queues the notification of a transfer behind those that wait already.
func (l *server) forward(f *frame) {
	g := frame{notify: true, rank: uint32(l.peer.rank), export: f.export, off: f.off, n: f.n}
	_ = l.e.notices.Send(l.e.ctx, l.e.p.Rank(), g.put(&l.b))
}

// pieceOf returns the length of the pieces of a transfer of n bytes: at least 64 KiB, so that they
// are not copied into the buffers of ports, and so long that there are at most 64 pieces.
func pieceOf(n int) int {
	const (
		least = 64 << 10
		most  = 64
	)
	return max(least, ((n+most-1)/most+least-1)/least*least)
}
