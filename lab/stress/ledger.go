package stress

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"sync"
)

// A ledger is what one receiver knows of the messages for it: each of a sender's arrives
// once, in order for each goroutine that receives, and none that was sent is missing.
type ledger struct {
	a       *actor // reports
	scene   int
	mu      sync.Mutex
	flows   map[flowID]*flow
	open    int  // flows that have not ended
	several bool // goroutines receive
}

// A flowID is one sender's messages to this receiver.
type flowID struct{ from, actor int }

type flow struct {
	have  []bool // by sequence number
	count int
	want  int   // -1 until its end has come
	maybe []int // sequence numbers that need not come
	ended bool
}

// newLedger expects messages from so many actors at each of the ranks. All waits until all of them have
// ended.
func newLedger(a *actor, scene int, from []int, actors int) *ledger {
	l := &ledger{a: a, scene: scene, flows: map[flowID]*flow{}}
	for _, rank := range from {
		for i := range actors {
			l.flows[flowID{rank, i}] = &flow{want: -1}
		}
	}
	l.open = len(l.flows)
	return l
}

// A reader is one goroutine's view: what it receives of a flow comes in order.
type reader struct {
	*ledger
	last map[flowID]int
}

func (l *ledger) reader() *reader { return &reader{l, map[flowID]int{}} }

// take notes a message that has been received.
func (r *reader) take(from int, b []byte) {
	l, err := unpack(b)
	switch {
	case err != nil:
		r.a.found("%s: from rank %d: %v", r.a.name, from, err)
		return
	case l.scene != r.scene:
		r.a.found("%s: from rank %d: message %d of rank %d.%d of scene %d in scene %d", r.a.name, from, l.seq, l.from,
			l.actor, l.scene, r.scene)
		return
	case l.from != from:
		r.a.found("%s: a message of rank %d is said to come from rank %d", r.a.name, l.from, from)
		return
	}
	id := flowID{l.from, l.actor}
	r.mu.Lock()
	defer r.mu.Unlock()
	f := r.flows[id]
	if f == nil {
		r.a.found("%s: a message of rank %d.%d, which sends none", r.a.name, l.from, l.actor)
		return
	}
	// A long message whose receive is given up goes back to the queue: then others may
	// have received the next ones already.
	back := r.several && len(b) > 32<<10
	if last, ok := r.last[id]; ok && !back && (int(l.seq) < last || int(l.seq) == last && l.kind == data) {
		r.a.found("%s: message %d (%d bytes) of rank %d.%d came after its message %d", r.a.name, l.seq, len(b), l.from,
			l.actor, last)
	}
	r.last[id] = max(r.last[id], int(l.seq))
	if l.kind == fin {
		if f.want >= 0 {
			r.a.found("%s: the end of rank %d.%d came twice", r.a.name, l.from, l.actor)
		}
		f.want = int(l.seq)
		for rest := b[least:]; len(rest) >= 4; rest = rest[4:] {
			f.maybe = append(f.maybe, int(binary.LittleEndian.Uint32(rest)))
		}
	} else {
		for len(f.have) <= int(l.seq) {
			f.have = append(f.have, false)
		}
		if f.have[l.seq] {
			r.a.found("%s: message %d of rank %d.%d, %d bytes, came twice", r.a.name, l.seq, l.from, l.actor, len(b))
			return
		}
		f.have[l.seq] = true
		f.count++
	}
	r.settle(f)
}

// settle ends a flow of which everything has come. The lock is held.
func (l *ledger) settle(f *flow) {
	if f.ended || f.want < 0 {
		return
	}
	for seq := range f.want {
		if (seq >= len(f.have) || !f.have[seq]) && !slices.Contains(f.maybe, seq) {
			return
		}
	}
	l.close(f)
}

// close ends a flow: all its messages have come, or cannot come any more.
func (l *ledger) close(f *flow) {
	if f.ended {
		return
	}
	f.ended = true
	if l.open--; l.open == 0 {
		l.a.changed()
	}
}

// all waits until all flows of a ledger have ended.
func (a *actor) all(l *ledger) {
	err := a.do("wait for the ends of all senders", func() error {
		return a.await(a.ctx, func() bool {
			l.mu.Lock()
			defer l.mu.Unlock()
			return l.open == 0
		})
	})
	a.quit = a.quit || err != nil
}

// gone ends the flows of a rank that sends no more.
func (l *ledger) gone(rank int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for id, f := range l.flows {
		if id.from == rank {
			l.close(f)
		}
	}
}

// over reports whether all flows from a rank, or from all if it is -1, have ended.
func (l *ledger) over(rank int) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for id, f := range l.flows {
		if (rank < 0 || id.from == rank) && !f.ended {
			return false
		}
	}
	return true
}

// String says what has not come yet.
func (l *ledger) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var b strings.Builder
	for id, f := range l.flows {
		if !f.ended {
			var missing []int
			for seq := range max(f.want, len(f.have)) {
				if (seq >= len(f.have) || !f.have[seq]) && !slices.Contains(f.maybe, seq) && len(missing) < 10 {
					missing = append(missing, seq)
				}
			}
			fmt.Fprintf(&b, "  of rank %d.%d: %d came, %d are to come (-1: not known), missing %v\n", id.from, id.actor, f.count,
				f.want, missing)
		}
	}
	return b.String()
}
