package perf

import (
	"encoding/binary"

	"weft/am"
)

// An amAdapter sends requests: of words, with a medium payload, or stores. The handler at rank 1 answers a short
// request of rank 0 with a reply of the same kind, so that a round trip is a request and its reply.
type amAdapter struct {
	b           *bench
	e           *am.Endpoint
	in          []byte
	words       [am.MaxWords]uint64
	echoes      bool // the handler answers, where that is possible
	came, taken int
	more        func() bool
}

const (
	amArrives = iota // counts
	amEchoes         // counts, and replies
)

// newAMAdapter opens an endpoint whose segment holds the longest message, for stores. In a measurement of bandwidth
// the handler only counts.
func newAMAdapter(b *bench, largest int) (c *amAdapter, err error) {
	c = &amAdapter{b: b, in: make([]byte, largest), echoes: b.spec.Test != "bandwidth"}
	c.more = func() bool { return c.came > c.taken }
	table := []am.Handler{{Name: "arrives", Func: c.arrives}, {Name: "echoes", Func: c.answers}}
	c.e, err = am.Open(b.ctx, b.p, libraryChannel, table, &am.Config{Segment: max(largest, 8)})
	return c, err
}

// arrives is the handler that counts: it runs in the goroutine that polls or waits, so nothing is locked. A store
// lies in the segment already, and is not copied.
func (c *amAdapter) arrives(m *am.Call) error {
	if len(m.Data) > 0 && len(m.Data) <= am.MaxMedium {
		copy(c.in, m.Data)
	}
	c.came++
	return nil
}

// answers counts a request and replies with the same bytes.
func (c *amAdapter) answers(m *am.Call) error {
	if err := c.arrives(m); err != nil {
		return err
	}
	if len(m.Data) > 0 {
		return m.ReplyMedium(amArrives, m.Data)
	}
	return m.Reply(amArrives, m.Words...)
}

// send sends b in the shortest form that holds it: as words, as a medium payload, or as a store. At rank 1 a short
// message has been sent already, as the handler's reply.
func (c *amAdapter) send(b []byte) error {
	h := amArrives
	if c.echoes && len(b) <= am.MaxMedium {
		if c.b.p.Rank() == 1 {
			return nil // the handler has replied
		}
		h = amEchoes
	}
	switch n := len(b); {
	case n <= 8*len(c.words) && n%8 == 0:
		words := c.words[:n/8]
		for i := range words {
			words[i] = binary.LittleEndian.Uint64(b[8*i:])
		}
		return c.e.Request(c.b.ctx, c.b.peer, h, words...)
	case n <= am.MaxMedium:
		return c.e.RequestMedium(c.b.ctx, c.b.peer, h, b)
	default:
		return c.e.Store(c.b.ctx, c.b.peer, 0, b, amArrives)
	}
}

func (c *amAdapter) recv() error {
	if err := c.e.Until(c.b.ctx, c.more); err != nil {
		return err
	}
	c.taken++
	return nil
}

func (c *amAdapter) ready() (bool, error) {
	if err := c.e.Poll(); err != nil || c.came == c.taken {
		return false, err
	}
	c.taken++
	return true, nil
}

func (c *amAdapter) flush() error { return c.e.Flush(c.b.ctx) }

func (c *amAdapter) close() error {
	if err := c.e.Barrier(c.b.ctx); err != nil {
		return err
	}
	return c.e.Close()
}
