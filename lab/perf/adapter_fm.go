package perf

import "weft/fm"

// An fmAdapter sends messages in one piece, and its handler receives them in one.
type fmAdapter struct {
	b           *bench
	e           *fm.Endpoint
	in          []byte
	came, taken int
	more        func() bool
}

func newFMAdapter(b *bench, largest int) (c *fmAdapter, err error) {
	c = &fmAdapter{b: b, in: make([]byte, largest)}
	c.more = func() bool { return c.came > c.taken }
	c.e, err = fm.Open(b.ctx, b.p, libraryChannel, []fm.Handler{{Name: "arrives", Func: c.arrives}}, nil)
	return c, err
}

func (c *fmAdapter) arrives(m *fm.Message) error {
	if _, err := m.Receive(c.in[:m.Length]); err != nil {
		return err
	}
	c.came++
	return nil
}

func (c *fmAdapter) send(b []byte) error {
	s, err := c.e.BeginMessageWait(c.b.ctx, c.b.peer, len(b), 0)
	if err != nil {
		return err
	}
	if err := s.SendPiece(c.b.ctx, b); err != nil {
		return err
	}
	return s.EndMessage(c.b.ctx)
}

func (c *fmAdapter) recv() error {
	if err := c.e.Until(c.b.ctx, c.more); err != nil {
		return err
	}
	c.taken++
	return nil
}

func (c *fmAdapter) ready() (bool, error) {
	if c.came == c.taken {
		if _, err := c.e.Extract(1); err != nil {
			return false, err
		}
	}
	if c.came == c.taken {
		return false, nil
	}
	c.taken++
	return true, nil
}

func (c *fmAdapter) flush() error { return c.e.Barrier(c.b.ctx) }

func (c *fmAdapter) close() error {
	if err := c.e.Barrier(c.b.ctx); err != nil {
		return err
	}
	return c.e.Close()
}
