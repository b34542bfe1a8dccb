package fm_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"weft"
	"weft/fm"
	"weft/internal/waittest"
)

// A handler that panics or fails, in one packet or in the middle of many, is an error at both ranks. The rest of its
// message is thrown away, the next one is not disturbed, and all credits are there.
func TestHandlersFail(t *testing.T) {
	everywhere(t, 2, func(ctx context.Context, p *weft.Proc) error {
		served := 0
		e, err := fm.Open(ctx, p, 7, []fm.Handler{{Name: "panics", Func: func(m *fm.Message) error {
			_, _ = m.Receive(make([]byte, m.Length/2))
			panic("out of order")
		}}, {Name: "fails", Func: func(m *fm.Message) error { return errors.New("no such file") }},
			{Name: "serves", Func: func(m *fm.Message) error { served++; return nil }}}, nil)
		if err != nil {
			return err
		}
		defer e.Close()
		for _, n := range []int{8, 100000} {
			for h, text := range []string{"out of order", "no such file"} {
				for range 20 {
					if p.Rank() == 0 {
						if err := send(ctx, e, 1, h, make([]byte, n), 10000); err != nil {
							return err
						}
					}
					err := e.Until(ctx, func() bool { return false })
					var failed *fm.HandlerError
					if !errors.As(err, &failed) || failed.Rank != 1 || failed.From != 0 || failed.Handler != h {
						return fmt.Errorf("%w", err)
					}
					if err := want(err, text); err != nil {
						return err
					}
					if p.Rank() == 0 {
						if err := send(ctx, e, 1, 2, make([]byte, n), 10000); err != nil {
							return err
						}
					}
				}
			}
		}
		if err := e.Barrier(ctx); err != nil {
			return err
		}
		if p.Rank() == 1 && served != 80 {
			return fmt.Errorf("%d served", served)
		}
		return nil
	})
}

// A sender that gives up in the middle of a message ends its handler with an error that says so; a sender that leaves,
// too, and its departure is told.
func TestSenderGivesUp(t *testing.T) {
	everywhere(t, 3, func(ctx context.Context, p *weft.Proc) error {
		var ends []error
		e, err := fm.Open(ctx, p, 7, []fm.Handler{{Name: "take", Func: func(m *fm.Message) error {
			_, err := m.Receive(make([]byte, m.Length))
			ends = append(ends, err)
			return err
		}}}, &fm.Config{Packets: 4})
		if err != nil {
			return err
		}
		defer e.Close()
		ready := p.Barrier("ready", &weft.BarrierConfig{Members: []int{0, 1}})
		switch p.Rank() {
		case 1: // it does not extract before rank 0 has given up
			if err := ready.Wait(ctx); err != nil {
				return err
			}
		case 0:
			s := begun(ctx, e, 1, 100000, 0)
			over, cancel := context.WithCancel(ctx)
			cancel()
			if err := s.SendPiece(over, make([]byte, 90000)); err == nil {
				return errors.New("sent without credits")
			}
			if err := ready.Wait(ctx); err != nil {
				return err
			}
			return e.Until(ctx, func() bool { return true })
		case 2:
			s := begun(ctx, e, 1, 100000, 0)
			return s.SendPiece(ctx, make([]byte, 40000))
		}
		err = e.Until(ctx, func() bool { return len(ends) == 2 })
		if len(ends) < 2 {
			err = e.Until(ctx, func() bool { return len(ends) == 2 })
		}
		aborted := 0
		left := 0
		for _, err := range ends {
			if errors.Is(err, fm.ErrAborted) {
				aborted++
			}
			if errors.Is(err, weft.ErrPeer) {
				left++
			}
		}
		if aborted != 1 || left != 1 {
			return fmt.Errorf("%v, %w", ends, err)
		}
		return nil
	})
}

// Calls with what cannot be say what is wrong.
func TestBadCalls(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), waittest.Patience)
	defer cancel()
	err := weft.Local(ctx, 2, func(ctx context.Context, p *weft.Proc) error {
		if _, err := fm.Open(ctx, p, 7, nil, &fm.Config{Packets: 1}); err == nil {
			return errors.New("opened with one packet")
		}
		e, err := fm.Open(ctx, p, 7, []fm.Handler{{Name: "a", Func: func(*fm.Message) error { return nil }}}, nil)
		if err != nil {
			return err
		}
		defer e.Close()
		for text, c := range map[string][3]int{
			"rank 2":              {2, 1, 0},
			"to itself":           {p.Rank(), 1, 0},
			"handler is 1":        {1 - p.Rank(), 1, 1},
			"fm.MaxMessage":       {1 - p.Rank(), fm.MaxMessage + 1, 0},
			"the credits of one ": {1 - p.Rank(), 257 * 4096, 0},
		} {
			_, err := e.BeginMessage(c[0], c[1], c[2])
			if err := want(err, text); err != nil {
				return err
			}
		}
		return e.Barrier(ctx)
	})
	if err != nil {
		t.Error(err)
	}
}
