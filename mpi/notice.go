package mpi

import (
	"context"
	"encoding/binary"
	"errors"
	"slices"
	"strings"
	"unicode"

	"weft"
	"weft/extend"
)

// A notice is a message on the channel of what ranks tell each other about communicators (PROTOCOL §12):
//
//	offset  field
//	0       communicator, 8 bytes
//	8       what: an agreement's message, a revocation, the news that a rank has gone, a question what the receiver has
//	        called, the answer that the sender has not come so far, a question whether the receiver has a child of the
//	        communicator, or the answer that the sender has not got it
//	9       of a revocation: the rank that has gone, or -1; of the news: which rank; of a child: its birth; 4 bytes
//	13      of a revocation: the rank that revoked, 4 bytes
//	17      the agreement's message; the reason in words; or the header of an operation: that in which the sender waits
//	        for the receiver, or the last one that the sender has called; or the child, 8 bytes
type notice struct {
	comm     uint64
	what     byte
	rank, by int32
	rest     []byte
	from     int // the sender's rank in the job
}

// What a notice says.
const (
	noticeAgree byte = iota
	noticeRevoke
	noticeGone // of a rank to itself
	noticeAsk
	noticeBehind
	noticeHeard // of a rank to itself: see catchUp
	noticeHas
	noticeHasNot
)

const noticeSize = 17

func (n notice) append(b []byte) []byte {
	b = binary.LittleEndian.AppendUint64(b, n.comm)
	b = append(b, n.what)
	b = binary.LittleEndian.AppendUint32(b, uint32(n.rank))
	b = binary.LittleEndian.AppendUint32(b, uint32(n.by))
	return append(b, n.rest...)
}

func parseNotice(from int, b []byte) (n notice, ok bool) {
	if len(b) < noticeSize {
		return n, false
	}
	return notice{
		comm: binary.LittleEndian.Uint64(b), what: b[8], rank: int32(binary.LittleEndian.Uint32(b[9:])),
		by: int32(binary.LittleEndian.Uint32(b[13:])), rest: b[noticeSize:], from: from,
	}, true
}

// serve takes notices until the Proc is closed.
func (w *world) serve() {
	news := extend.NewSignal(w.p)
	buf := make([]byte, 1<<12)
	for {
		w.control.Notify(news)
		m, err := w.control.TryRecvCopy(buf)
		switch err {
		case nil:
			if n, ok := parseNotice(m.From, m.Data); ok {
				w.hear(n)
			}
			m.Release()
		case weft.ErrWouldBlock:
			if news.Wait(context.Background()) != nil {
				return
			}
		case weft.ErrClosed:
			w.end()
			return
		} // else a rank has gone, which watch tells
	}
}

// hear handles a notice. If it is about a communicator that this rank has not made yet, it waits for that.
func (w *world) hear(n notice) {
	switch own := n.from == w.p.Rank(); n.what {
	case noticeGone:
		if own {
			w.mourn(int(n.rank))
		}
		return
	case noticeHeard:
		if own {
			w.caughtUp()
		}
		return
	}
	w.mu.Lock()
	c := w.comms[n.comm]
	if c == nil {
		n.rest = slices.Clone(n.rest)
		e := w.soon(n.comm)
		e.notices = append(e.notices, n)
		w.mu.Unlock()
		return
	}
	member := c.group.find(n.from) >= 0
	var out *Comm
	switch {
	case !member:
	case n.what == noticeRevoke:
		c.revoke(&RevokedError{Comm: c.String(), By: int(n.by), Gone: int(n.rank), Reason: printable(n.rest)})
	case n.what == noticeAsk:
		c.asked(n.from, n.rest)
	case n.what == noticeBehind:
		c.behind(n.from, n.rest)
	case n.what == noticeHas:
		c.answerHas(n)
	case n.what == noticeHasNot:
		out = c.hasNot(n)
	}
	w.unlock()
	if out != nil {
		w.leftOut(out, n.from)
	}
	if member && n.what == noticeAgree {
		w.meet(c).take(n.from, n.rest)
	}
}

// depart tells the receives that a rank is gone when it is called for the second time: this rank has heard the rank's
// notices, such as why it has revoked a communicator, and the rank's short messages have come. These are delivered
// first.
func (w *world) depart(gone *weft.PeerError) {
	w.mu.Lock()
	second := w.parted[gone.Rank] != nil
	w.parted[gone.Rank] = gone
	w.mu.Unlock()
	if !second {
		return
	}
	var b [headSize]byte
	h := header{class: departure, root: int32(gone.Rank)}
	h.put(b[:])
	_ = w.look.Note(b[:]) // it fails if the Proc is closed
}

// catchUp waits until all notices that have come have been heard, or the Proc is closed. A send that finds a rank
// gone looks then whether the rank had told why.
func (w *world) catchUp() {
	heard := extend.NewSignal(w.p)
	w.mu.Lock()
	w.behind = append(w.behind, heard)
	w.mu.Unlock()
	if w.control.Note(notice{what: noticeHeard}.append(nil)) == nil {
		_ = heard.Wait(context.Background())
	}
}

// caughtUp ends the first of the calls of catchUp.
func (w *world) caughtUp() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.behind[0].Set()
	w.behind = w.behind[1:]
}

// maxReason is the length in bytes of the longest reason that reaches other ranks.
const maxReason = 300

// printable returns what a rank says, without what a terminal would obey.
func printable(b []byte) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return '?'
		}
		return r
	}, string(b[:min(len(b), maxReason)]))
}

// revoke ends a communicator: all that waits in it ends, and members that are 1, 2, 4 … places away are told, which
// pass it on. The lock is held.
func (c *Comm) revoke(why *RevokedError) {
	if c.w.err != nil || c.revoked != nil {
		return
	}
	c.learnt = why.By == c.w.p.Rank()
	c.end(why)
	c.told = map[int]bool{c.me: true}
	n := c.group.n
	for bit := 1; bit < n; bit <<= 1 {
		c.tell((c.me + bit) % n)
		c.tell((c.me - bit + n) % n)
	}
	c.drop(why)
	c.unbindAll(why)
}

// revocation returns that of this rank for a reason.
func (c *Comm) revocation(why error) *RevokedError {
	var earlier *RevokedError
	if errors.As(why, &earlier) {
		return earlier
	}
	e := &RevokedError{Comm: c.String(), By: c.w.p.Rank(), Gone: -1, Reason: "no reason is given", cause: why}
	if why != nil {
		e.Reason = strings.TrimPrefix(strings.TrimPrefix(why.Error(), "weft: "), "mpi: ")
		var gone *weft.PeerError
		if errors.As(why, &gone) {
			e.Gone = gone.Rank
		}
	}
	return e
}

// end makes a communicator one that is over. The lock is held.
func (c *Comm) end(why error) {
	c.revoked = why
	c.ended.Store(true)
}

// drop ends all receives and probes of a communicator, now and later, and forgets its messages. The lock is held.
func (c *Comm) drop(why error) {
	c.end(why)
	for place := range c.group.n + 1 {
		for r, ok := c.q.Withdraw(place - 1); ok; r, ok = c.q.Withdraw(place - 1) { // from Any first
			r.end(c.reason())
		}
	}
	for _, r := range c.w.probes {
		if r.c == c {
			r.end(c.reason())
		}
	}
	for m, place, ok := c.q.Take(AnySource, 0, 0); ok; m, place, ok = c.q.Take(AnySource, 0, 0) {
		c.w.bodies.put(m.body)
		c.giveUp(place, m.offer)
	}
}

// tell tells a member that the communicator is over, once. The lock is held.
func (c *Comm) tell(place int) {
	if c.told == nil || c.told[place] {
		return
	}
	c.told[place] = true
	e := c.revoked.(*RevokedError)
	n := notice{comm: c.id, what: noticeRevoke, rank: int32(e.Gone), by: int32(e.By)}
	n.rest = []byte(e.Reason[:min(len(e.Reason), maxReason)])
	c.w.notify(c.group.at(place), n)
}

// notify sends a notice to a rank of the job. The lock is held.
func (w *world) notify(rank int, n notice) {
	w.later(func() {
		op, err := w.notices.StartSend(rank, n.append(nil))
		if err == nil && !op.Done() {
			w.p.Go(func() { _ = op.Wait(context.Background()) }) // a member that has gone needs not be told
		}
	})
}

// Revoke ends the communicator for all members, because this one cannot go on with it. Operations that are under way
// and all later ones end with a RevokedError that carries the reason, here and at the other members; Agree and Shrink
// still work. A collective operation that fails revokes its communicator itself. A member that is computing notices in
// its next operation. Any goroutine may call Revoke, at any time. It is MPI_Comm_revoke of ULFM.
func (c *Comm) Revoke(why error) {
	c.w.mu.Lock()
	defer c.w.unlock()
	c.revoke(c.revocation(why))
}
