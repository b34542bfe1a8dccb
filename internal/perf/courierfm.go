package perf

import "weft/fm"

// An fmCourier sends messages in one piece, which the handler receives in one.
type fmCourier struct {
	b           *bench
	e           *fm.Endpoint
	in          []byte
	came, taken int
	more        func() bool
}

func newFMCourier(b *bench, largest int) (c *fmCourier, err error) {
	c = &fmCourier{b: b, in: make([]byte, largest)}
	c.more = func() bool { return c.came > c.taken }
	c.e, err = fm.Open(b.ctx, b.p, libraryChannel, []fm.Handler{{Name: "arrives", Func: c.arrives}}, nil)
	return c, err
}

func (c *fmCourier) arrives(m *fm.Message) error {
	if _, err := m.Receive(c.in[:m.Length]); err != nil {
		return err
	}
	c.came++
	return nil
}

func (c *fmCourier) send(b []byte) error {
	s, err := c.e.BeginMessageWait(c.b.ctx, c.b.peer, len(b), 0)
	if err != nil {
		return err
	}
	if err := s.SendPiece(c.b.ctx, b); err != nil {
		return err
	}
	return s.EndMessage(c.b.ctx)
}

func (c *fmCourier) recv() error {
	if err := c.e.Until(c.b.ctx, c.more); err != nil {
		return err
	}
	c.taken++
	return nil
}

func (c *fmCourier) ready() (bool, error) {
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

func (c *fmCourier) flush() error { return c.e.Barrier(c.b.ctx) }

func (c *fmCourier) close() error {
	if err := c.e.Barrier(c.b.ctx); err != nil {
		return err
	}
	return c.e.Close()
}
