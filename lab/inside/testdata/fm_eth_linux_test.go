package weft_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"weft"
	"weft/fm"
	"weft/internal/waittest"
)

// The handler of a message of 20,000 bytes in two pieces begins before the second piece is sent, over raw Ethernet. It
// is TestHandlerBeginsEarly of package fm, which has no hosts.
func TestFMHandlerBeginsEarly(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), waittest.Patience)
	defer cancel()
	ended := make(chan error)
	for _, p := range weft.JoinEth(t) {
		go func() { ended <- early(ctx, p) }()
	}
	for range 2 {
		if err := <-ended; err != nil {
			t.Error(err)
			cancel()
		}
	}
}

func early(ctx context.Context, p *weft.Proc) error {
	b := make([]byte, 20000)
	var begun, over bool
	e, err := fm.Open(ctx, p, 8, []fm.Handler{{Name: "take", Func: func(m *fm.Message) error {
		begun = true
		_, err := m.Receive(b)
		over = true
		return err
	}}}, nil)
	if err != nil {
		return err
	}
	defer e.Close()
	first := p.Barrier("the first piece", nil)
	if p.Rank() == 1 {
		err := e.Until(ctx, func() bool { return begun })
		if err := errors.Join(err, first.Wait(ctx)); err != nil || over {
			return fmt.Errorf("over %t: %w", over, err)
		}
		return errors.Join(e.Until(ctx, func() bool { return over }), e.Barrier(ctx))
	}
	s, err := e.BeginMessageWait(ctx, 1, len(b), 0)
	if err != nil {
		return err
	}
	return errors.Join(s.SendPiece(ctx, b[:10000]), first.Wait(ctx), s.SendPiece(ctx, b[10000:]), s.EndMessage(ctx),
		e.Barrier(ctx))
}
