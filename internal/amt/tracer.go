package amt

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"

	"weft/internal/sys"
)

// A Tracer counts what a rank sends. Any goroutine may use it.
type Tracer struct {
	Began func() // is called at each operation; or nil

	part Part
	rows []atomic.Pointer[tracerRow] // by receiver; made when something is first sent to it
	out  io.Writer                   // nil: events are not kept

	mu     sync.Mutex
	events []Event

	file io.Closer // out, if it is the tracer's to close
}

type tracerRow [Kinds]struct{ messages, bytes, largest atomic.Uint64 }

// NewTracer returns the tracer of a rank, which the part describes. Close writes what was counted to out, if that is
// not nil.
func NewTracer(part Part, out io.Writer) *Tracer {
	return &Tracer{part: part, rows: make([]atomic.Pointer[tracerRow], part.Size), out: out}
}

// CreateTracer is NewTracer with a file that has the rank appended to its name. The file is made now, so that the file
// of an earlier run does not remain.
func CreateTracer(part Part, name string) (*Tracer, error) {
	f, err := sys.CreateFresh(fmt.Sprintf("%s.%d", name, part.Rank))
	if err != nil {
		return nil, err
	}
	if part.Rank == 0 { // an earlier run may have had more ranks
		for rank := part.Size; os.Remove(fmt.Sprintf("%s.%d", name, rank)) == nil; rank++ {
		}
	}
	t := NewTracer(part, f)
	t.file = f
	return t, nil
}

// Add counts a message of n bytes.
func (t *Tracer) Add(to int, kind Kind, n int) {
	if t.Began != nil {
		t.Began()
	}
	row := t.rows[to].Load()
	if row == nil {
		t.rows[to].CompareAndSwap(nil, new(tracerRow))
		row = t.rows[to].Load()
	}
	t.Note(Event{What: Sent, Peer: to, Kind: kind, Size: n})
	c := &row[kind]
	c.messages.Add(1)
	c.bytes.Add(uint64(n))
	for {
		l := c.largest.Load()
		if uint64(n) <= l || c.largest.CompareAndSwap(l, uint64(n)) {
			return
		}
	}
}

// Note keeps an event, if the trace keeps any.
func (t *Tracer) Note(e Event) {
	if t.out == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.events) < MaxEvents {
		t.events = append(t.events, e)
	}
}

// Part returns what was counted.
func (t *Tracer) Part() Part {
	part := t.part
	t.mu.Lock()
	part.Events = t.events
	t.mu.Unlock()
	for to := range t.rows {
		row := t.rows[to].Load()
		if row == nil {
			continue
		}
		for kind := range row {
			c := &row[kind]
			if n := c.messages.Load(); n > 0 {
				count := Count{Messages: n, Bytes: c.bytes.Load(), Largest: c.largest.Load()}
				part.Rows = append(part.Rows, Row{To: to, Kind: Kind(kind), Count: count})
			}
		}
	}
	return part
}

// Sent calls f with how many messages and bytes of all kinds were sent to each rank to which something was.
func (t *Tracer) Sent(f func(to int, messages, bytes uint64)) {
	for to := range t.rows {
		row := t.rows[to].Load()
		if row == nil {
			continue
		}
		var messages, bytes uint64
		for kind := range row {
			messages += row[kind].messages.Load()
			bytes += row[kind].bytes.Load()
		}
		f(to, messages, bytes)
	}
}

// Close writes what was counted.
func (t *Tracer) Close() error {
	if t.out == nil {
		return nil
	}
	part := t.Part()
	err := part.Write(t.out)
	if t.file != nil {
		err = errors.Join(err, t.file.Close())
	}
	return err
}
