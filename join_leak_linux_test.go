package weft

import (
	"context"
	"errors"
	"net"
	"testing"

	"weft/internal/waittest"
)

// Of a process that is not let into its job, or whose context ends before the other ranks have come, nothing is left.
// What Join opens after that is the matter of the test of package join.
func TestFailedJoinLeavesNothing(t *testing.T) {
	t.Run("refused", func(t *testing.T) {
		at := serveStore(t, "")
		waittest.Flat(t, func() {
			if err := joinAs(t.Context(), t, "1", "4", at); !errors.As(err, new(*JoinRefusedError)) {
				t.Fatal(err)
			}
		})
	})
	t.Run("missing", func(t *testing.T) {
		at := serveStore(t, "")
		waittest.Flat(t, func() {
			untilError(t, func(ctx context.Context) error { return joinAs(ctx, t, "1", "3", at) }, new(*MissingError))
		})
	})
	t.Run("missing at rank 0", func(t *testing.T) {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		at := l.Addr().String()
		l.Close() // Join takes the port, or waits until another process no longer has it
		waittest.Flat(t, func() {
			untilError(t, func(ctx context.Context) error { return joinAs(ctx, t, "0", "3", at) }, new(*MissingError))
		})
	})
	t.Run("nobody serves", func(t *testing.T) {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close() // nobody answers
		waittest.Flat(t, func() {
			untilError(t, func(ctx context.Context) error {
				return joinAs(ctx, t, "1", "3", l.Addr().String())
			}, new(interface{ Timeout() bool }))
		})
	})
}
