package mailbox

// Recover gives back what senders have reserved that were killed before they wrote
// the record for it, and frees their lines. Died reports whether a sender is dead
// for certain: it will never write again. Open are the messages that the owner's engine
// is writing.
//
// Of the bytes between Head and Tail, some belong to a record, read or not; some are being
// written by the engine; some by a sender that lives and is busy. The rest was reserved by
// dead senders. While a living sender is busy Recover returns false, and is to be called
// again. Senders that wait for room are not busy, so that it succeeds in the end.
func (r *Reader) Recover(died func(rank, pid int, busy bool) bool, open []*Arrival) (done bool) {
	b := r.b
	before := b.claim.Load()
	tails := make([]uint64, b.Rings) // before the lines are looked at: what is reserved later is not looked for
	for i := range tails {
		tails[i] = b.amt[i].tail.Load() &^ closed
	}
	dead, quiet := b.dead(died)
	if !quiet || b.claim.Load() != before {
		return false
	}
	taken := r.account(uint32(before >> 32))
	kept := uint32(0)
	for _, a := range open {
		if a.open {
			kept++
			r.mark(Extent{a.ring, a.pos, a.Total})
		}
	}
	// Promises that are left are those of open messages and of the dead.
	if uint32(before)-taken > kept && !b.claim.CompareAndSwap(before, uint64(taken)<<32|uint64(taken+kept)) {
		return false
	}
	for i, tail := range tails {
		if tail != b.amt[i].head.Load() {
			r.sweep(i, tail)
		}
	}
	for _, l := range dead {
		l.busy.Store(0)
		l.owner.Store(0)
	}
	return true
}

// dead returns the lines of dead senders. Quiet says that no living sender is busy.
func (b *Box) dead(died func(rank, pid int, busy bool) bool) (lines []*line, quiet bool) {
	for i := range b.lines {
		l := &b.lines[i]
		owner := l.owner.Load()
		busy := l.busy.Load() != 0
		switch {
		case owner != 0 && (owner > uint64(b.Ranks) || died(int(owner)-1, int(l.pid.Load()), busy)):
			lines = append(lines, l)
		case busy:
			return nil, false
		}
	}
	return lines, true
}

// account marks what the records tell of that have not been read, up to the tickets
// that have been taken, and puts void ones where the dead have not written any. It
// returns taken, or what can be true of it.
func (r *Reader) account(taken uint32) uint32 {
	if taken-r.head > uint32(r.b.Slots) {
		taken = r.head
	}
	var rec Record
	for ticket := r.head; ticket != taken; ticket++ {
		if !r.b.published(ticket) {
			r.b.publish(ticket, &Record{}, flagVoid|flagInline, nil)
		} else if r.b.record(ticket, &rec) && !rec.InRecord {
			r.mark(rec.Extent)
		}
	}
	return taken
}

// sweep releases what has been reserved of a ring up to tail and is not marked.
func (r *Reader) sweep(ring int, tail uint64) {
	s := r.state(ring)
	if tail-s.head > s.grains*Grain {
		return // that cannot be
	}
	for pos := s.head; pos < tail; pos = max(pos+Grain, s.head) { // Head may have moved over more than was released here
		if g := pos / Grain % s.grains; s.known[g/64]&(1<<(g%64)) == 0 {
			r.Release(Extent{ring, pos, Grain})
		}
	}
}

// Senders calls f with the rank of each sender that maps the mailbox.
func (b *Box) Senders(f func(rank int)) {
	for i := range b.lines {
		if owner := b.lines[i].owner.Load(); owner != 0 && owner <= uint64(b.Ranks) {
			f(int(owner) - 1)
		}
	}
}
