package mpi

import (
	"context"
	"fmt"
	"slices"
	"time"

	"weft/extend"
	"weft/internal/match"
)

// Members that have called operations which do not belong together may send nothing that could be compared: each waits
// for the other, or one of them has called an operation too often. So a member that has waited for a while asks the
// member that it waits for. If that has called something else under the same number, it revokes the communicator; if it
// has not come so far, it says how far it has, for weft ps and the error of the wait. Of a communicator that it has
// failed to make it says that: see family.go.

// inquiryPeriod is how long a receive of a collective operation waits at least before its source is asked. It is asked
// again after twice as long, and so on.
const inquiryPeriod = time.Second

// mostLooks is how often inquire looks at a receive of a single message, whose sender may take its time.
const mostLooks = 64

// beginInquiry starts inquire if it does not run. The lock is held.
func (w *world) beginInquiry() {
	if !w.inquiring {
		w.inquiring = true
		w.later(func() { w.p.Go(w.inquire) })
	}
}

// inquire looks, time after time, for receives and agreements that wait for long, until none waits at all.
func (w *world) inquire() {
	for idle := 0; idle < 2; {
		if w.p.Sleep(context.Background(), inquiryPeriod) != nil {
			return
		}
		w.mu.Lock()
		idle++
		for _, r := range slices.Concat(w.waiting, w.sends) {
			if r.state != waiting || r.want == nil && (r.c.family.parent == nil || r.looks == mostLooks) {
				continue
			}
			idle = 0
			if r.looks++; r.looks >= 2 && r.looks&(r.looks-1) == 0 {
				w.ask(r)
			}
		}
		for _, c := range w.list {
			for _, k := range c.running {
				if c.board != nil && k.how != byMessages {
					idle = 0
					w.seek(k)
				}
			}
		}
		for _, s := range w.agreeing {
			if s.looksAgain() {
				idle = 0
			}
		}
		w.inquiring = idle < 2
		w.unlock()
	}
}

// watchSend has inquire look at a send that waits: its receiver may not have the communicator. The lock is held.
func (w *world) watchSend(c *Comm, to int) *receive {
	r := w.get(c, to, 0, match.Exact) // it is not posted
	w.sends = append(w.sends, r)
	w.beginInquiry()
	return r
}

// forgetSend ends what watchSend has begun.
func (w *world) forgetSend(r *receive) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.sends = drop(w.sends, r)
	w.put(r)
}

// ask asks the source of a receive what it has called. The lock is held.
func (w *world) ask(r *receive) {
	r.c.askHas(r.source)
	if r.want == nil {
		return
	}
	if r.shown == nil {
		r.show()
	}
	var b [headSize]byte
	h := r.want.head
	if past := &r.c.past[uint32(h.tag)%uint32(len(r.c.past))]; past.tag == h.tag {
		h = *past
	}
	h.put(b[:])
	w.notify(r.c.group.at(r.source), notice{comm: r.c.id, what: noticeAsk, rest: b[:]})
}

// show has weft ps show the wait. The lock is held.
func (r *receive) show() {
	what := r.doing()
	if r.behind != "" {
		what += ": " + r.behind
	}
	r.unshow()
	r.shown = extend.ShowWait(r.c.w.p, what)
}

func (r *receive) unshow() {
	if r.shown != nil {
		r.shown()
		r.shown = nil
	}
}

// asked answers a member that waits for this one in a collective operation. The lock is held.
func (c *Comm) asked(from int, b []byte) {
	theirs, _, ok := parseHeader(b)
	if !ok || theirs.class != collective {
		return
	}
	seq := uint32(theirs.tag)
	mine := &c.past[seq%uint32(len(c.past))]
	switch {
	case mine.tag == theirs.tag:
		err := mine.differs(from, &theirs)
		if err == nil && c.board == nil && c.w.oneHost && mine.form != theirs.form {
			err = &MismatchError{Rank: from, Mine: publicCall(mine), Theirs: publicCall(&theirs)}
		}
		if err != nil {
			c.revoke(c.revocation(err))
		}
	case c.seq < seq:
		last := c.past[c.seq%uint32(len(c.past))]
		last.tag = int32(c.seq)
		last.class = collective
		var b [headSize]byte
		last.put(b[:])
		c.w.notify(from, notice{comm: c.id, what: noticeBehind, rest: b[:]})
	}
}

// behind notes that a member has not come so far as this one. The lock is held.
func (c *Comm) behind(from int, b []byte) {
	theirs, _, ok := parseHeader(b)
	if !ok {
		return
	}
	for _, r := range slices.Concat(c.w.waiting, c.w.sought) {
		if r.c != c || r.want == nil || r.source != c.group.find(from) || r.want.head.tag <= theirs.tag {
			continue
		}
		r.behind = fmt.Sprintf("rank %d has called no operation of it", from)
		if theirs.tag > 0 {
			r.behind = fmt.Sprintf("rank %d has called nothing behind %v", from, publicCall(&theirs))
		}
		r.show()
	}
}
