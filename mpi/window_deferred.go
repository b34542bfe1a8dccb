package mpi

import (
	"sync/atomic"

	"weft"
	"weft/internal/mem"
)

// An Accumulate of one word of mapped memory is put off until the words of some more are on their way to this
// processor: words at random places would else wait for one line after the other. They are updated, in order, once
// there are mostDeferred, and before anything else is done at the target: so a flush finds them done. Where each word
// has had a flush of its own, the next one is not put off.

// mostDeferred is how many words a target puts off: about as many lines as a processor asks for at a time.
const mostDeferred = 16

// A deferral is what a target has put off. The latch of this member guards it.
type deferral struct {
	words [mostDeferred]struct {
		off    int
		update weft.Update
		v      [8]byte
	}
	n     atomic.Int32 // of words
	since int          // updates since the last flush
	alone bool         // there was one at most between the last two flushes
	err   error        // the first one, until a flush
}

// updateWord updates a word, or puts that off.
func (t *target) updateWord(u weft.Update, off int, b []byte) (err error) {
	d := &t.deferred
	t.latches.lock()
	d.since++
	if d.alone && d.since == 1 {
		err = t.remote.Update(off, u, b)
		t.latches.unlock()
		return err
	}
	mem.Own(t.remote.Bytes()[off:][:8])
	n := int(d.n.Load())
	word := &d.words[n]
	word.off = off
	word.update = u
	copy(word.v[:], b)
	d.n.Store(int32(n + 1))
	if n+1 == mostDeferred {
		t.catchUp()
	}
	t.latches.unlock()
	return nil
}

// catchUp updates what has been put off. This member's latch is held.
func (t *target) catchUp() {
	d := &t.deferred
	for i := range d.words[:d.n.Load()] {
		word := &d.words[i]
		if err := t.remote.Update(word.off, word.update, word.v[:]); err != nil && d.err == nil {
			d.err = err
		}
	}
	d.n.Store(0)
}

// settleWords updates what has been put off, before something else is done at the target.
func (t *target) settleWords() {
	if t.deferred.n.Load() > 0 {
		t.latches.lock()
		t.catchUp()
		t.latches.unlock()
	}
}

// undefer is settleWords for a flush: it returns the first error since the last one.
func (t *target) undefer() (err error) {
	t.latches.lock()
	t.catchUp()
	d := &t.deferred
	d.alone = d.since <= 1
	d.since = 0
	err = d.err
	d.err = nil
	t.latches.unlock()
	return err
}
