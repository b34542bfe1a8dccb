package counters

import "weft/internal/mem"

// Begin shows that a goroutine sleeps from now on, and returns the place where it does so, or
// -1 if there is none left. Peer is the rank that it needs, or -1.
func (n *Node) Begin(op Operation, peer int, now int64, phase uint64, name string) (place int) {
	n.Parked++
	for i := range n.waiting {
		if w := &n.waiting[i]; w.operation == 0 {
			w.change(func() {
				w.operation = uint32(op) + 1
				w.peer = int32(peer)
				w.since = now
				w.phase = phase
				put(w.name[:], name)
			})
			return i
		}
	}
	return -1
}

// End shows that the goroutine at a place, which Begin returned, has stopped sleeping.
func (n *Node) End(place int) {
	n.Parked--
	if place >= 0 {
		w := &n.waiting[place]
		w.change(func() { w.operation = 0 })
	}
}

// change makes a change of which readers see all or nothing. The stores before and after are
// not moved across those of the number.
func (w *waiting) change(f func()) {
	number := mem.Word(&w.number)
	number.Store(w.number + 1)
	f()
	number.Store(w.number + 1)
}

// Fail counts an error, of a peer or of none (-1). Errors with the same text and peer are one
// entry. When there is no room for another entry the last one takes all that are left.
func (n *Node) Fail(now int64, peer int, what string, times uint64) {
	what = what[:min(len(what), len(fault{}.text))]
	for i := range n.errors {
		f := &n.errors[i]
		if i == MaxErrors-1 && f.count == 0 {
			peer = -1
			what = "others"
		}
		if f.count > 0 && (i < MaxErrors-1 && (f.peer != int64(peer) || string(text(f.text[:])) != what)) {
			continue
		}
		if f.count == 0 {
			f.first = now
			f.peer = int64(peer)
			put(f.text[:], what)
		}
		f.last = now
		mem.Word(&f.count).Store(f.count + times)
		return
	}
}
