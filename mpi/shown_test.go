package mpi

import (
	"context"
	"errors"
	"strings"
	"testing"

	"weft"
	"weft/internal/waittest"
)

// TestReceivesAreShown: weft ps shows receives by source and tag, also those of goroutines that do not drive.
func TestReceivesAreShown(t *testing.T) {
	err := weft.Local(t.Context(), 2, func(ctx context.Context, p *weft.Proc) error {
		c := World(p)
		if p.Rank() == 1 {
			return c.Barrier(ctx)
		}
		short, cancel := context.WithCancel(ctx)
		ended := make(chan error)
		for _, tag := range []int{77, 78} {
			go func() {
				_, err := c.Recv(short, Of(make([]byte, 1)), 1, tag)
				ended <- err
			}()
		}
		shown := waittest.Poll(func() bool {
			text := ""
			for _, r := range c.w.receives() {
				text += r.Call
				if r.From != 1 {
					t.Errorf("from %d", r.From)
				}
			}
			return strings.Contains(text, "tag 77") && strings.Contains(text, "tag 78")
		})
		cancel()
		err := errors.Join(<-ended, <-ended)
		if !shown || !errors.Is(err, context.Canceled) {
			t.Errorf("shown: %v; %v", shown, err)
		}
		return c.Barrier(ctx)
	})
	if err != nil {
		t.Error(err)
	}
}
