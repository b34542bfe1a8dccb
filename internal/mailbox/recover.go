package mailbox

// Recover gives back what senders have reserved that were killed before they wrote
// the record for it, and frees their lines. Died reports whether a sender is dead
// for certain: it will never write again. Open are the messages that the owner's engine
// is writing.
//
// What the dead have reserved is what nobody else has. That can be told only when no
// sender that lives is busy: Recover returns false when one is, and is to be called
// again. Senders that wait for room are not busy, so that time comes.
func (r *Reader) Recover(died func(rank, pid int, busy bool) bool, open []*Arrival) (done bool) {
	b := r.b
	before := b.claim.Load()
	var dead []*line
	for i := range b.lines {
		l := &b.lines[i]
		owner, busy := l.owner.Load(), l.busy.Load() != 0
		switch {
		case i > 0 && owner != 0 && died(int(owner)-1, int(l.pid.Load()), busy):
			dead = append(dead, l)
		case busy:
			return false
		}
	}
	if b.claim.Load() != before {
		return false
	}
	for ticket := r.head; ticket != uint32(before>>32); ticket++ {
		if !b.published(ticket) {
			b.publish(ticket, &Record{}, flagVoid, nil)
		}
	}
	// Promises that are left are those of open messages and of the dead.
	promised := uint32(before) - uint32(before>>32)
	kept := uint32(0)
	for _, a := range open {
		if a.open {
			kept++
		}
	}
	if promised > kept && !b.claim.CompareAndSwap(before, before&^lower|uint64(uint32(before>>32)+kept)) {
		return false
	}
	for _, l := range dead {
		r.reclaim(l, open)
		l.busy.Store(0)
		l.owner.Store(0)
	}
	return true
}

// reclaim releases what a dead sender had noted that it would reserve, if it did so
// and no record tells of it.
func (r *Reader) reclaim(l *line, open []*Arrival) {
	b := r.b
	if l.busy.Load() == 0 {
		return
	}
	e := Extent{int(l.ring.Load()) - 1, l.pos.Load(), int(l.len.Load())}
	if e.Ring < 0 || e.Ring >= b.Rings || e.Len <= 0 || e.Pos%Grain != 0 {
		return
	}
	head, tail := b.amt[e.Ring].head.Load(), b.amt[e.Ring].tail.Load()&^closed
	if e.Pos-head >= tail-head || grains(e.Len) > tail-e.Pos || r.covered(e.Ring, e.Pos) {
		return // it had not been reserved
	}
	for ticket := r.head; b.published(ticket); ticket++ {
		var rec Record
		if b.record(ticket, &rec) && !rec.InRecord && rec.Ring == e.Ring && rec.Pos == e.Pos {
			return
		}
	}
	for _, a := range open {
		if a.open && a.ring == e.Ring && a.pos == e.Pos {
			return
		}
	}
	r.mark(e)
	r.Release(e)
}

// covered reports whether a record for the byte at pos has been read.
func (r *Reader) covered(ring int, pos uint64) bool {
	s := r.state(ring)
	if s.grains == 0 {
		return true
	}
	g := pos / Grain % s.grains
	return s.known[g/64]&(1<<(g%64)) != 0
}

// Senders calls f with the rank of each sender that maps the mailbox.
func (b *Box) Senders(f func(rank int)) {
	for i := 1; i < len(b.lines); i++ {
		if owner := b.lines[i].owner.Load(); owner != 0 {
			f(int(owner) - 1)
		}
	}
}
