//go:build linux

package pm_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"weft"
	"weft/pm"
)

// A cursor checks what comes from each node: message i of a node has length and bytes that follow from i.
type cursor []int

func (c cursor) next(from int, b []byte) error {
	i := c[from]
	c[from]++
	want := message(from, i)
	if string(b) != string(want) {
		return fmt.Errorf("message %d of node %d has %d bytes, want %d: %x", i, from, len(b), len(want), b[:min(len(b), 8)])
	}
	return nil
}

func message(node, i int) []byte {
	b := make([]byte, 1+(i*977+node)%9000)
	for j := range b {
		b[j] = byte(i + node + j)
	}
	return b
}

// exchange sends from all to all through buffers much smaller than what is sent: a rank that finds no room receives.
func exchange(ctx context.Context, p *weft.Proc) error {
	const each = 100
	x, err := open(ctx, p, &pm.Config{SendBuffer: 64 << 10, RecvBuffer: 64 << 10})
	if err != nil {
		return err
	}
	got := make(cursor, x.Nodes())
	total := 0
	poll := func() error {
		b, from, err := x.Receive()
		if err == weft.ErrWouldBlock {
			return nil
		}
		if err != nil {
			return err
		}
		total++
		return errors.Join(got.next(from, b), x.ReleaseReceiveBuffer())
	}
	for i := range each {
		for node := range x.Nodes() {
			if err := send(x, node, message(x.Self(), i), poll); err != nil {
				return err
			}
		}
	}
	for total < each*x.Nodes() || x.SendDone() != nil {
		if err := poll(); err != nil {
			return err
		}
	}
	return finish(ctx, p, x)
}

// truncate sends less than it has asked for, and cannot do what the calls forbid.
func truncate(ctx context.Context, p *weft.Proc) error {
	x, err := open(ctx, p, nil)
	if err != nil {
		return err
	}
	if x.Self() == 1 {
		for _, want := range []string{"short", "x"} {
			err := receive(ctx, x, func(_ int, b []byte) error {
				if string(b) != want {
					return fmt.Errorf("got %q, want %q", b, want)
				}
				return nil
			})
			if err != nil {
				return err
			}
		}
		if err := x.ReleaseReceiveBuffer(); !errors.Is(err, pm.ErrNoBuffer) {
			return fmt.Errorf("released twice: %v", err)
		}
		return finish(ctx, p, x)
	}
	if err := errors.Join(x.Send(), x.Truncate(1), x.Discard()); !errors.Is(err, pm.ErrNoBuffer) {
		return fmt.Errorf("sent nothing: %v", err)
	}
	var long *weft.ConfigError
	for _, n := range []int{-1, 0, pm.MTU + 1} {
		if _, err := x.GetSendBuffer(1, n); !errors.As(err, &long) || long.Value != n {
			return fmt.Errorf("a buffer of %d bytes: %v", n, err)
		}
	}
	if _, err := x.GetSendBuffer(2, 1); !errors.Is(err, weft.ErrRank) {
		return fmt.Errorf("node 2 of 2: %v", err)
	}
	if _, err = x.GetSendBuffer(1, 100); err != nil {
		return err
	}
	if err := x.Discard(); err != nil {
		return err
	}
	for _, text := range []string{"short", "x"} {
		b, err := x.GetSendBuffer(1, pm.MTU)
		if err != nil {
			return err
		}
		var busy *pm.BusyError
		if _, err := x.GetSendBuffer(1, 1); !errors.As(err, &busy) {
			return fmt.Errorf("a second buffer: %v", err)
		}
		if err := x.Truncate(pm.MTU + 1); !errors.As(err, &long) {
			return fmt.Errorf("truncated to more: %v", err)
		}
		if err := x.Truncate(copy(b, text)); err != nil {
			return err
		}
		if err := x.Send(); err != nil {
			return err
		}
	}
	if err := again(ctx, x.SendDone); err != nil {
		return err
	}
	return finish(ctx, p, x)
}

// full: a node that does not receive holds up what is for it, and nothing else.
func full(ctx context.Context, p *weft.Proc) error {
	x, err := open(ctx, p, &pm.Config{SendBuffer: 1 << 20, RecvBuffer: 64 << 10})
	if err != nil {
		return err
	}
	held := p.Barrier("held", nil)
	long := make([]byte, pm.MTU)
	sent := 0
	stop := errors.New("no room")
	if x.Self() == 0 {
		for err == nil {
			long[0] = byte(sent)
			if err = send(x, 1, long, func() error { return stop }); err == nil {
				sent++
			}
		}
		if err != stop || sent > (1<<20+64<<10)/pm.MTU || x.SendDone() != weft.ErrWouldBlock {
			return fmt.Errorf("%d messages of %d bytes, then %w", sent, pm.MTU, err)
		}
		if err := send(x, 2, long[:1], func() error { return stop }); err != nil {
			return fmt.Errorf("to a node that receives: %w", err)
		}
	}
	if x.Self() == 2 {
		if err := receive(ctx, x, func(int, []byte) error { return nil }); err != nil {
			return err
		}
	}
	if err := held.Wait(ctx); err != nil {
		return err
	}
	if x.Self() == 0 {
		poll := func() error { return p.Sleep(ctx, time.Microsecond) }
		if err := errors.Join(send(x, 1, long[:1], poll), again(ctx, x.SendDone)); err != nil {
			return err
		}
	}
	for i, last := 0, false; x.Self() == 1 && !last; i++ {
		err := receive(ctx, x, func(_ int, b []byte) error {
			if last = len(b) == 1; !last && b[0] != byte(i) {
				return fmt.Errorf("message %d in the place of %d", b[0], i)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return finish(ctx, p, x)
}

// asleep waits in a select for what comes.
func asleep(ctx context.Context, p *weft.Proc) error {
	const each = 20
	x, err := open(ctx, p, nil)
	if err != nil {
		return err
	}
	got := make(cursor, x.Nodes())
	peer := 1 - x.Self()
	sleep := func() error {
		ready := x.BeforeSelect()
		defer x.AfterSelect()
		select {
		case <-ready:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	if simulated(p) {
		sleep = func() error { return x.Wait(ctx) } // in a simulation nothing else lets the world go on
	}
	for i := range each {
		if x.Self() == i%2 {
			if err := send(x, peer, message(x.Self(), i/2), sleep); err != nil {
				return err
			}
			continue
		}
		for {
			b, from, err := x.Receive()
			if err == nil {
				if err := errors.Join(got.next(from, b), x.ReleaseReceiveBuffer()); err != nil {
					return err
				}
				break
			}
			if err != weft.ErrWouldBlock {
				return err
			}
			if err := sleep(); err != nil {
				return err
			}
		}
	}
	return finish(ctx, p, x)
}

// composite: near nodes are reached by one channel and far nodes by another, and messages of both are
// received in one place, in order for each node.
func composite(ctx context.Context, p *weft.Proc) error {
	const each = 50
	var parts []*pm.Context
	for channel := range 2 {
		x, err := pm.Open(ctx, p, 1+channel, &pm.Config{SendBuffer: 64 << 10, RecvBuffer: 64 << 10})
		if err != nil {
			return err
		}
		parts = append(parts, x)
	}
	if _, err := pm.Compose(func(int) int { return 2 }, parts...); err == nil {
		return errors.New("a route to nowhere")
	}
	x, err := pm.Compose(func(node int) int { return (node ^ p.Rank()) & 1 }, parts...)
	if err != nil {
		return err
	}
	got := make(cursor, x.Nodes())
	total := 0
	take := func(from int, b []byte) error {
		total++
		return got.next(from, b)
	}
	for i := range each {
		for node := range x.Nodes() {
			poll := func() error {
				b, from, err := x.Receive()
				if err != nil {
					if err == weft.ErrWouldBlock {
						err = nil
					}
					return err
				}
				return errors.Join(take(from, b), x.ReleaseReceiveBuffer())
			}
			if err := send(x, node, message(x.Self(), i), poll); err != nil {
				return err
			}
		}
	}
	for total < each*x.Nodes() {
		if err := receive(ctx, x, take); err != nil {
			return err
		}
	}
	if err := again(ctx, x.SendDone); err != nil {
		return err
	}
	return finish(ctx, p, x)
}

// TestHeld: a program holds several messages at a time, each with its bytes, and gives them back in their order.
func TestHeld(t *testing.T) { everywhere(t, 2, "held") }

func held(ctx context.Context, p *weft.Proc) error {
	x, err := pm.Open(ctx, p, 1, nil)
	if err != nil {
		return err
	}
	const all = 3 * pm.MaxHeld
	text := func(i int) string { return strings.Repeat(string(rune('a'+i%26)), 1+i%5*200) }
	var have []string
	var came [][]byte
	for sent := 0; len(have) < all || sent < all; {
		if sent < all {
			if b, err := x.GetSendBuffer(1-x.Self(), len(text(sent))); err == nil {
				copy(b, text(sent))
				if err := x.Send(); err != nil {
					return err
				}
				sent++
			} else if err != weft.ErrWouldBlock {
				return err
			}
		}
		b, _, err := x.Receive()
		switch {
		case err == nil:
			came = append(came, b)
		case !errors.Is(err, pm.ErrBusy) && err != weft.ErrWouldBlock:
			return err
		case errors.Is(err, pm.ErrBusy) != (len(came) == pm.MaxHeld):
			return fmt.Errorf("%d are held: %w", len(came), err)
		case len(came) == pm.MaxHeld || len(have)+len(came) == all:
			for _, b := range came {
				have = append(have, string(b))
				if err := x.ReleaseReceiveBuffer(); err != nil {
					return err
				}
			}
			came = came[:0]
		}
	}
	for i, m := range have {
		if m != text(i) {
			return fmt.Errorf("message %d is %q", i, m)
		}
	}
	if err := x.ReleaseReceiveBuffer(); !errors.Is(err, pm.ErrNoBuffer) {
		return fmt.Errorf("nothing is held: %w", err)
	}
	return finish(ctx, p, x)
}
