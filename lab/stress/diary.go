package stress

import (
	"fmt"
	"strings"
	"sync"
)

// A diary is how a sender has sent each message, for the case that one is missing.
type diary struct {
	name    string
	mu      sync.Mutex
	entries map[int][]entry // by receiver
}

// An entry is a message that has been sent: by number, length and the call that sent it.
type entry struct {
	seq uint32
	len int
	way string
}

func newDiary(name string) *diary { return &diary{name: name, entries: map[int][]entry{}} }

// wrote notes a message to a rank. Any goroutine may call it.
func (d *diary) wrote(to int, seq uint32, n int, way string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.entries[to] = append(d.entries[to], entry{seq, n, way})
}

// String says how everything was sent.
func (d *diary) String() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	var b strings.Builder
	for to, all := range d.entries {
		fmt.Fprintf(&b, "  %s to rank %d:", d.name, to)
		for _, m := range all {
			fmt.Fprintf(&b, " %d:%s(%d)", m.seq, m.way, m.len)
		}
		b.WriteByte('\n')
	}
	return b.String()
}
