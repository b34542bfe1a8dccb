package inbox

import (
	"runtime"
	"sync"
	"sync/atomic"

	"weft/internal/mailbox"
	"weft/internal/transport"
)

// A Way is what all Senders of a process to one mailbox have in common: the mapped memory, and
// the order of messages that must leave in packets.
type Way struct {
	box     *mailbox.Box    // the mailbox, mapped here; or nil
	line    *mailbox.Writer // writes to the mapped mailbox; or nil
	mapped  *transport.Mapping
	packets atomic.Int32 // messages that left in packets, and that later ones must not overtake; the line counts them, too

	mu    sync.Mutex // held while a message leaves in packets: their numbers are in the order of the stream
	begun uint64     // the number of the last message that left in packets
	lost  int        // messages that were given up, and may still arrive
	last  uint64     // the number of the last message that was given up
}

// newWay returns the way to a mailbox, through mapped memory unless mapped is nil.
func newWay(rank int, mapped *transport.Mapping) *Way {
	w := &Way{}
	if mapped == nil || mapped.ReadOnly {
		return w
	}
	box, err := mailbox.At(mapped.Bytes[:len(mapped.Bytes)-8])
	if err != nil {
		return w
	}
	line, ok := box.Join(rank, pid)
	if !ok {
		return w
	}
	w.box = box
	w.line = line
	w.mapped = mapped
	return w
}

// depart begins to send a message in packets, from a byte on, and returns the message's number. It
// waits while another goroutine has written part of a message, which does not take long.
func (w *Way) depart(from int, begin func()) (number uint64) {
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

// Ended counts the end of a message that left in packets: it has arrived, or was given up. After
// a message that was given up, later ones leave in packets, too, until one that began later is
// known to have arrived: packets keep the order.
func (w *Way) Ended(number uint64, err error) {
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
func (w *Way) leave() {
	if w.line != nil {
		w.line.Leave()
	}
}
