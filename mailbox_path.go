package weft

import (
	"runtime"
	"sync"
	"sync/atomic"

	"weft/internal/mailbox"
	"weft/internal/transport"
)

// A way is what all Senders of a process to one mailbox have in common: the mapped memory, and
// the order of messages that must leave in packets.
type way struct {
	box     *mailbox.Box    // the mailbox, mapped here; or nil
	line    *mailbox.Writer // writes to the mapped mailbox; or nil
	mapped  *transport.Mapping
	packets atomic.Int32 // messages that left in packets, and that later ones must not overtake; the line counts them, too

	mu    sync.Mutex // held while a message leaves in packets: their numbers are in the order of the stream
	begun uint64     // the number of the last message that left in packets
	lost  int        // messages that were given up, and may still arrive
	last  uint64     // the number of the last message that was given up
}

// forgetWays drops the ways to mailboxes whose memory has been taken back. It does so when there
// are twice as many ways as were left the last time. p.mu is held.
func (p *Proc) forgetWays() {
	const few = 64
	if len(p.ways) < max(p.sweep, few) {
		return
	}
	for id, w := range p.ways {
		if w.mapped != nil && w.mapped.Gone() {
			delete(p.ways, id)
		}
	}
	p.sweep = 2 * len(p.ways)
}

type wayID struct {
	rank   int
	region uint32
}

// newWay returns the way to the mailbox in a remote region, through mapped memory if it is mapped.
func newWay(p *Proc, r *Remote) *way {
	w := &way{}
	if r.direct == nil || r.direct.ReadOnly {
		return w
	}
	box, err := mailbox.At(r.direct.Bytes[:len(r.direct.Bytes)-8])
	if err != nil {
		return w
	}
	line, ok := box.Join(p.job.Rank, pid)
	if !ok {
		return w
	}
	w.box = box
	w.line = line
	w.mapped = r.direct
	return w
}

// depart begins to send a message in packets, from a byte on, and returns the message's number. It
// waits while another goroutine has written part of a message, which does not take long.
func (w *way) depart(from int, begin func()) (number uint64) {
	for {
		w.mu.Lock()
		if w.line == nil || w.line.Depart(from) {
			break
		}
		w.mu.Unlock()
		runtime.Gosched()
	}
	defer w.mu.Unlock()
	w.packets.Add(1)
	w.begun++
	begin()
	return w.begun
}

// ended counts the end of a message that left in packets: it has arrived, or was given up. After
// a message that was given up, later ones leave in packets, too, until one that began later is
// known to have arrived: packets keep the order.
func (w *way) ended(number uint64, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err != nil {
		w.lost++
		w.last = max(w.last, number)
		return
	}
	n := 1
	if number > w.last {
		n += w.lost
		w.lost = 0
	}
	if w.line != nil {
		w.line.Arrived(n)
	}
	w.packets.Add(int32(-n))
}

// leave gives the writer's place in the mailbox back.
func (w *way) leave() {
	if w.line != nil {
		w.line.Leave()
	}
}
