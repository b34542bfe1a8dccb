package fm_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"weft"
	"weft/fm"
)

func want(err error, text string) error {
	if err == nil || !strings.Contains(err.Error(), text) {
		return fmt.Errorf("the error is %v, not one with %q", err, text)
	}
	return nil
}

// begun begins a message that fits the credits.
func begun(ctx context.Context, e *fm.Endpoint, to, length, h int) *fm.Stream {
	s, err := e.BeginMessageWait(ctx, to, length, h)
	if err != nil {
		panic(err)
	}
	return s
}

// Ranks whose tables differ all learn which rank and which index it is.
func TestTablesDiffer(t *testing.T) {
	everywhere(t, 3, func(ctx context.Context, p *weft.Proc) error {
		nop := func(*fm.Message) error { return nil }
		table := []fm.Handler{{Name: "a", Func: nop}, {Name: "b", Func: nop}}
		if p.Rank() == 1 {
			table[1].Name = "x"
		}
		_, err := fm.Open(ctx, p, 7, table, nil)
		var e *fm.TableError
		if !errors.As(err, &e) || !errors.Is(err, fm.ErrTable) {
			return fmt.Errorf("%w", err)
		}
		return want(err, `fm: handler 1 of rank 1 is "x", that of rank 0 is "b"`)
	})
}

// Handlers of messages from two ranks are suspended at the same time, each is resumed by its own packets, and the
// program goes on between.
func TestSeveralSuspended(t *testing.T) {
	var story []string
	everywhere(t, 3, func(ctx context.Context, p *weft.Proc) error {
		if p.Rank() == 0 {
			story = nil
		}
		e, err := fm.Open(ctx, p, 7, []fm.Handler{{Name: "take", Func: func(m *fm.Message) error {
			b := make([]byte, 40000)
			story = append(story, fmt.Sprint(m.From, " begins"))
			for range 2 {
				if _, err := m.Receive(b); err != nil {
					return err
				}
				story = append(story, fmt.Sprint(m.From, " has part"))
			}
			return nil
		}}, {Name: "go", Func: func(m *fm.Message) error { return nil }}}, nil)
		if err != nil {
			return err
		}
		defer e.Close()
		if p.Rank() > 0 {
			s := begun(ctx, e, 0, 80000, 0)
			for range 2 {
				if err := s.SendPiece(ctx, make([]byte, 40000)); err != nil {
					return err
				}
				if err := e.Barrier(ctx); err != nil { // in the middle of a message
					return err
				}
			}
			if err := s.EndMessage(ctx); err != nil {
				return err
			}
			return e.Barrier(ctx)
		}
		for range 2 {
			if err := e.Barrier(ctx); err != nil {
				return err
			}
		}
		if err := e.Until(ctx, func() bool { return len(story) == 6 }); err != nil {
			return err
		}
		text := strings.Join(story, ", ")
		first, second, ok := strings.Cut(text, "begins, ")
		if !ok || len(first) != 2 || strings.Count(second, "has part") != 4 {
			return errors.New(text)
		}
		between := strings.Index(text, "2 begins") < strings.LastIndex(text, "1 has part") &&
			strings.Index(text, "1 begins") < strings.LastIndex(text, "2 has part")
		if s := e.Stats(); !between || s.Suspensions < 4 {
			return fmt.Errorf("%s: %+v", text, s)
		}
		return e.Barrier(ctx)
	})
}

// early has rank 0 send a message of 20,000 bytes in two pieces. It sends the second piece when the handler has begun
// at rank 1, and has had what the first packets of the first piece held.
func early(ctx context.Context, p *weft.Proc) error {
	const held = 2*4096 - 16 // a packet takes the bytes at hand that fill whole units
	var begun, ended bool
	e, err := fm.Open(ctx, p, 8, []fm.Handler{{Name: "take", Func: func(m *fm.Message) error {
		b := make([]byte, m.Length)
		if _, err := m.Receive(b[:held]); err != nil {
			return err
		}
		begun = true
		_, err := m.Receive(b[held:])
		if ended = true; err == nil && string(b) != string(pattern(0, m.Length)) {
			err = errors.New("the bytes are others")
		}
		return err
	}}}, nil)
	if err != nil {
		return err
	}
	defer e.Close()
	first := p.Barrier("the first piece", nil)
	if p.Rank() == 1 {
		if err := e.Until(ctx, func() bool { return begun }); err != nil {
			return err
		}
		if err := first.Wait(ctx); err != nil || ended {
			return fmt.Errorf("ended %t: %w", ended, err)
		}
		if err := e.Until(ctx, func() bool { return ended }); err != nil {
			return err
		}
		return e.Barrier(ctx)
	}
	b := pattern(0, 20000)
	s, err := e.BeginMessageWait(ctx, 1, len(b), 0)
	if err != nil {
		return err
	}
	if err := errors.Join(s.SendPiece(ctx, b[:10000]), first.Wait(ctx), s.SendPiece(ctx, b[10000:]),
		s.EndMessage(ctx)); err != nil {
		return err
	}
	return e.Barrier(ctx)
}

// A handler begins before its message has been sent, if that is longer than a packet: also in the simulator, and
// between processes in TestTransports.
func TestHandlerBeginsEarly(t *testing.T) { everywhere(t, 2, early) }

// A message in one piece takes no more packets than its bytes need at 32 KiB each, although a packet that is full in
// the middle of a message has 4 KiB.
func TestPacketsOfLongPieces(t *testing.T) {
	everywhere(t, 2, func(ctx context.Context, p *weft.Proc) error {
		taken := 0
		e, err := fm.Open(ctx, p, 7, []fm.Handler{{Name: "take",
			Func: func(m *fm.Message) error { taken++; return nil }}}, nil)
		if err != nil {
			return err
		}
		defer e.Close()
		const most = 32 * (4096 - 16) // the other half of the credits may not be back
		lengths := []int{8, 4080, 4081, 20000, 32752, 32753, 65536, 100000, most}
		for i, n := range lengths {
			if p.Rank() == 0 {
				before := e.Stats().Packets
				s, err := e.BeginMessage(1, n, 0)
				if err != nil {
					return fmt.Errorf("%d bytes: %w", n, err)
				}
				if err := errors.Join(s.SendPiece(ctx, make([]byte, n)), s.EndMessage(ctx)); err != nil {
					return err
				}
				want := max(1, (n+32751)/32752)
				if got := e.Stats().Packets - before; got != uint64(want) {
					return fmt.Errorf("%d bytes are %d packets, not %d", n, got, want)
				}
			} else if err := e.Until(ctx, func() bool { return taken > i }); err != nil {
				return err
			}
			if err := e.Barrier(ctx); err != nil {
				return err
			}
		}
		return nil
	})
}

// What a handler does not receive is thrown away, and the next message is not disturbed; a message may be shorter than
// announced, and nobody receives more than was.
func TestLengths(t *testing.T) {
	everywhere(t, 2, func(ctx context.Context, p *weft.Proc) error {
		var found []string
		e, err := fm.Open(ctx, p, 7, []fm.Handler{{Name: "some", Func: func(m *fm.Message) error {
			b := make([]byte, 5)
			n, err := m.Receive(b)
			found = append(found, fmt.Sprint(n, err))
			return nil
		}}, {Name: "greedy", Func: func(m *fm.Message) error {
			_, err := m.Receive(make([]byte, m.Length+1))
			found = append(found, err.Error())
			return nil
		}}, {Name: "to the end", Func: func(m *fm.Message) error {
			_, err := io.ReadFull(reader{m}, make([]byte, m.Length))
			found = append(found, fmt.Sprint(err))
			return nil
		}}}, nil)
		if err != nil {
			return err
		}
		defer e.Close()
		if p.Rank() == 0 {
			for _, m := range []struct{ h, announced, sent int }{{0, 5, 5}, {0, 100000, 100000}, {0, 9000, 3}, {0, 10, 0},
				{1, 50000, 50000}, {2, 30000, 20000}, {0, 5, 5}} {
				s := begun(ctx, e, 1, m.announced, m.h)
				if err := s.SendPiece(ctx, make([]byte, m.sent)); err != nil {
					return err
				}
				err := s.SendPiece(ctx, make([]byte, m.announced-m.sent+1))
				if err := want(err, fmt.Sprintf("fm: %d bytes sent in a message to rank 1 that was announced with %d bytes",
					m.announced+1, m.announced)); err != nil {
					return err
				}
				if err := s.EndMessage(ctx); err != nil {
					return err
				}
				if err := s.EndMessage(ctx); err == nil {
					return errors.New("a message has ended twice")
				}
			}
		}
		if err := e.Barrier(ctx); err != nil {
			return err
		}
		have := strings.Join(found, "\n")
		if want := strings.Join([]string{
			"5 <nil>", "5 <nil>", "3 unexpected EOF", "0 EOF",
			"fm: 50001 bytes asked for of a message from rank 0 that was announced with 50000 bytes", "unexpected EOF",
			"5 <nil>",
		}, "\n"); p.Rank() == 1 && have != want {
			return errors.New(have)
		}
		return nil
	})
}

// A reader reads a message in pieces of 1000 bytes.
type reader struct{ m *fm.Message }

func (r reader) Read(b []byte) (int, error) { return r.m.Receive(b[:min(len(b), 1000)]) }

// BeginMessage does not wait: without credits the error is ErrNoCredit, and what never can be is too long.
func TestNoCredit(t *testing.T) {
	everywhere(t, 2, func(ctx context.Context, p *weft.Proc) error {
		taken := 0
		e, err := fm.Open(ctx, p, 7, []fm.Handler{{Name: "take",
			Func: func(m *fm.Message) error { taken++; return nil }}}, &fm.Config{Packets: 6})
		if err != nil {
			return err
		}
		defer e.Close()
		ready := p.Barrier("ready", nil)
		if p.Rank() == 0 {
			if _, err := e.BeginMessage(1, 6*4096, 0); !errors.Is(err, weft.ErrTooLong) {
				return fmt.Errorf("longer than all credits: %w", err)
			}
			for range 6 {
				s, err := e.BeginMessage(1, 8, 0)
				if err != nil {
					return err
				}
				if _, err := e.BeginMessage(1, 8, 0); err != fm.ErrNoCredit {
					return fmt.Errorf("a second message at a time: %w", err)
				}
				if err := s.EndMessage(ctx); err != nil {
					return err
				}
			}
			if _, err := e.BeginMessage(1, 8, 0); err != fm.ErrNoCredit {
				return fmt.Errorf("without a credit: %w", err)
			}
			over, cancel := context.WithCancel(ctx)
			cancel()
			_, err := e.BeginMessageWait(over, 1, 8, 0)
			if err := want(err, "fm message to rank 1: context canceled: it has not extracted 6 packets"); err != nil {
				return err
			}
		}
		if err := ready.Wait(ctx); err != nil {
			return err
		}
		if err := e.Barrier(ctx); err != nil {
			return err
		}
		if p.Rank() == 0 {
			s, err := e.BeginMessage(1, 8, 0)
			if err != nil {
				return err
			}
			if err := s.EndMessage(ctx); err != nil {
				return err
			}
		}
		return e.Barrier(ctx)
	})
}

// A handler sends a reply, of which the credits are there; what it must not do is an error that says so.
func TestHandlersSend(t *testing.T) {
	everywhere(t, 2, func(ctx context.Context, p *weft.Proc) error {
		var e *fm.Endpoint
		var answers int
		var rules []string
		e, err := fm.Open(ctx, p, 7, []fm.Handler{{Name: "echo", Func: func(m *fm.Message) error {
			b := make([]byte, m.Length)
			if _, err := m.Receive(b); err != nil {
				return err
			}
			s, err := m.BeginMessage(m.From, len(b), 1)
			if err != nil {
				return err
			}
			_, err = m.Receive(nil)
			rules = append(rules, fmt.Sprint(err))
			_, err = e.Extract(1)
			rules = append(rules, fmt.Sprint(err))
			if err := s.SendPiece(ctx, b); err != nil {
				return err
			}
			return s.EndMessage(ctx)
		}}, {Name: "echoed", Func: func(m *fm.Message) error {
			b := make([]byte, m.Length)
			if _, err := m.Receive(b); err != nil || string(b) != string(pattern(m.From, len(b))) &&
				string(b) != string(pattern(e.Rank(), len(b))) {
				return fmt.Errorf("echo of %d bytes: %v", len(b), err)
			}
			answers++
			return nil
		}}, {Name: "leaves it open", Func: func(m *fm.Message) error {
			_, err := m.BeginMessage(m.From, 10, 1)
			return err
		}}}, nil)
		if err != nil {
			return err
		}
		defer e.Close()
		for _, n := range []int{8, 100, 30000, 8} {
			if p.Rank() == 0 {
				if err := send(ctx, e, 1, 0, pattern(0, n), 999); err != nil {
					return err
				}
			}
		}
		if p.Rank() == 0 {
			err = e.Until(ctx, func() bool { return answers == 4 })
		} else {
			err = e.Until(ctx, func() bool { return len(rules) == 8 })
			for i, r := range rules {
				if err := want(errors.New(r), []string{"ends the messages that it has begun before it receives",
					"must not extract"}[i%2]); err != nil {
					return err
				}
			}
		}
		if err := errors.Join(err, e.Barrier(ctx)); err != nil {
			return err
		}
		if p.Rank() == 0 {
			if err := send(ctx, e, 1, 2, nil, 1); err != nil {
				return err
			}
		}
		err = e.Until(ctx, func() bool { return false })
		if err := want(err, "a handler ends the messages that it has begun before it returns"); err != nil {
			return err
		}
		return e.Barrier(ctx)
	})
}
