package fm_test

import (
	"bytes"
	"context"
	"fmt"
	"testing"

	"weft"
	"weft/fm"
	"weft/internal/waittest"
)

// everywhere runs a test at ranks in this process, and in the simulator.
func everywhere(t *testing.T, ranks int, run func(ctx context.Context, p *weft.Proc) error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), waittest.Patience)
	defer cancel()
	if err := weft.Local(ctx, ranks, run); err != nil {
		t.Errorf("local: %v", err)
	}
	if raceEnabled {
		return // the goroutines of the simulator take turns
	}
	for _, c := range []weft.Cluster{{}, {Loss: 0.02}, {PerHost: 2}} {
		c.Ranks = ranks
		if _, err := weft.Simulate(ctx, c, run); err != nil {
			t.Errorf("simulated, %d to a host, loss %v: %v", c.PerHost, c.Loss, err)
		}
	}
}

// send sends a message in pieces of some length.
func send(ctx context.Context, e *fm.Endpoint, to, h int, b []byte, piece int) error {
	s, err := e.BeginMessageWait(ctx, to, len(b), h)
	if err != nil {
		return err
	}
	for len(b) > 0 {
		n := min(piece, len(b))
		if err := s.SendPiece(ctx, b[:n]); err != nil {
			return err
		}
		b = b[n:]
	}
	return s.EndMessage(ctx)
}

func pattern(rank, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i*7 + i>>8 + rank)
	}
	return b
}

// Messages of all lengths go from each rank to each, in pieces of one size, and are received in
// pieces of another one.
func TestPieces(t *testing.T) {
	sizes := []int{0, 1, 8, 100, 2000, 2048, 8000, 8192, 10000, 100000, 400000}
	everywhere(t, 3, func(ctx context.Context, p *weft.Proc) error {
		received := 0
		piece := 13
		e, err := fm.Open(ctx, p, 7, []fm.Handler{{Name: "take", Func: func(m *fm.Message) error {
			b := make([]byte, m.Length)
			piece = piece*5%9001 + 1
			for n := 0; n < len(b); {
				k := min(piece, len(b)-n)
				if _, err := m.Receive(b[n : n+k]); err != nil {
					return err
				}
				n += k
			}
			if !bytes.Equal(b, pattern(m.From, len(b))) {
				return fmt.Errorf("the bytes are others")
			}
			received++
			return nil
		}}}, nil)
		if err != nil {
			return err
		}
		defer e.Close()
		for i, n := range sizes {
			for to := range e.Size() {
				if to == e.Rank() {
					continue
				}
				if err := send(ctx, e, to, 0, pattern(e.Rank(), n), 17*(i*i*i*i+1)); err != nil {
					return err
				}
			}
		}
		if err := e.Until(ctx, func() bool { return received == 2*len(sizes) }); err != nil {
			return err
		}
		if s := e.Stats(); s.Strange > 0 || s.Suspensions == 0 {
			return fmt.Errorf("%+v", s)
		}
		return e.Barrier(ctx)
	})
}
