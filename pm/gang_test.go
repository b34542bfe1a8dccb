//go:build linux

package pm_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"testing"
	"time"

	"weft"
	"weft/internal/explore"
	"weft/internal/waittest"
	"weft/job"
	"weft/pm"
)

func TestTurns(t *testing.T)  { everywhere(t, 3, "turns") }
func TestFrozen(t *testing.T) { everywhere(t, 2, "frozen") }

// TestSeeds: the programs in which buffers are full do the same on bad networks, in many orders.
func TestSeeds(t *testing.T) {
	for seed := range explore.Choose[uint64](2, 12) {
		for _, name := range []string{"exchange", "turns", "composite"} {
			c := weft.Cluster{
				Ranks: 3 + int(seed%3), PerHost: int(seed % 3), Topology: "ring", Link: "10Gbps,5us,64KiB", Loss: 0.02,
				GoBackN: seed%2 == 1, Seed: seed,
				Faults: []weft.Fault{{Kind: weft.Pause, Ranks: []int{int(seed % 3)}, After: weft.Operations{Rank: 0, Count: 50},
					For: 2 * time.Millisecond}},
			}
			if _, err := weft.Simulate(t.Context(), c, programs[name]); err != nil {
				t.Errorf("%s, seed %d: %v", name, seed, err)
			}
		}
	}
}

// turns: two programs of a composite context take turns. What one has sent and not received waits until its next turn.
func turns(ctx context.Context, p *weft.Proc) error {
	const each = 12
	var parts []*pm.Context
	for channel := range 2 {
		x, err := pm.Open(ctx, p, 1+channel, &pm.Config{SendBuffer: 128 << 10, RecvBuffer: 64 << 10})
		if err != nil {
			return err
		}
		parts = append(parts, x)
	}
	x, err := pm.Compose(func(node int) int { return (node + p.Rank()) & 1 }, parts...)
	if err != nil {
		return err
	}
	b := p.Barrier("turns", nil)
	var states [2]pm.State
	programs := [2]*turner{{x: x, got: make(cursor, x.Nodes())}, {x: x, got: make(cursor, x.Nodes())}}
	for turn := range 2 * each {
		now := turn % 2
		if err := programs[now].turn(); err != nil {
			return err
		}
		if _, err := x.Switch(ctx, b, &states[now], &states[1-now]); err != nil {
			return err
		}
	}
	for now, program := range programs {
		if err := program.lastTurn(); err != nil {
			return err
		}
		if _, err := x.Switch(ctx, b, &states[now], &states[1-now]); err != nil {
			return err
		}
	}
	return finish(ctx, p, x)
}

// A turner is a program that sends to the next node, and receives from the one before.
type turner struct {
	x    *pm.Context
	got  cursor
	sent int
	over bool // lastMessage has come
}

// turn sends up to ten messages, and receives at most three.
func (r *turner) turn() error {
	for range 10 {
		text := message(r.x.Self(), r.sent)
		b, err := r.x.GetSendBuffer((r.x.Self()+1)%r.x.Nodes(), len(text))
		if err == weft.ErrWouldBlock {
			break
		}
		if err != nil {
			return err
		}
		copy(b, text)
		if err := r.x.Send(); err != nil {
			return err
		}
		r.sent++
	}
	for range 3 {
		if err := r.poll(); err != nil {
			return err
		}
	}
	return nil
}

// lastMessage is the length of the message that each program sends last. No other message is so long.
const lastMessage = 9999

// lastTurn sends the last message, and receives all messages of the node before.
func (r *turner) lastTurn() error {
	if err := send(r.x, (r.x.Self()+1)%r.x.Nodes(), make([]byte, lastMessage), r.poll); err != nil {
		return err
	}
	for !r.over || r.x.SendDone() != nil {
		if err := r.poll(); err != nil {
			return err
		}
	}
	return nil
}

// poll receives a message, if there is one, and checks that it is the next.
func (r *turner) poll() error {
	m, from, err := r.x.Receive()
	switch {
	case err == weft.ErrWouldBlock:
		return nil
	case err != nil:
		return err
	case len(m) == lastMessage:
		r.over = true
		return r.x.ReleaseReceiveBuffer()
	}
	return errors.Join(r.got.next(from, m), r.x.ReleaseReceiveBuffer())
}

// frozen: a context that is in use is not frozen; one that is frozen does nothing; a state that is
// damaged, or of another context, is refused.
func frozen(ctx context.Context, p *weft.Proc) error {
	x, err := open(ctx, p, nil)
	if err != nil {
		return err
	}
	other, err := pm.Open(ctx, p, 2, nil)
	if err != nil {
		return err
	}
	if _, err := x.GetSendBuffer(1-x.Self(), 100); err != nil {
		return err
	}
	var busy *pm.BusyError
	if err := x.Freeze(ctx); !errors.As(err, &busy) {
		return fmt.Errorf("with a buffer that is not sent: %v", err)
	}
	if err := x.Send(); err != nil {
		return err
	}
	err = receive(ctx, x, func(int, []byte) error {
		if err := x.Freeze(ctx); !errors.As(err, &busy) {
			return fmt.Errorf("with a message that is not given back: %v", err)
		}
		return nil
	})
	if err != nil {
		return err
	}
	var s, damaged pm.State
	if err := x.Save(&s); !errors.Is(err, weft.ErrNotFrozen) {
		return fmt.Errorf("saved when it runs: %v", err)
	}
	if err := errors.Join(x.Freeze(ctx), other.Freeze(ctx), x.Save(&s)); err != nil {
		return err
	}
	_, errSend := x.GetSendBuffer(1-x.Self(), 1)
	_, errLong := x.GetSendBuffer(1-x.Self(), 1000)
	_, _, errReceive := x.Receive()
	for _, err := range []error{errSend, errLong, errReceive} {
		if !errors.Is(err, weft.ErrFrozen) {
			return fmt.Errorf("a frozen context: %v", err)
		}
	}
	if err := other.Restore(&s); !errors.Is(err, weft.ErrSaved) {
		return fmt.Errorf("the state of another context: %v", err)
	}
	b, err := s.MarshalBinary()
	if err != nil {
		return err
	}
	for i := range b {
		b[i] ^= 0x10
		if err := damaged.UnmarshalBinary(b); !errors.Is(err, weft.ErrSaved) {
			return fmt.Errorf("byte %d is wrong: %v", i, err)
		}
		b[i] ^= 0x10
	}
	if err := errors.Join(damaged.UnmarshalBinary(b), x.Restore(&damaged), x.Thaw(), other.Thaw()); err != nil {
		return err
	}
	if err := x.Thaw(); !errors.Is(err, weft.ErrNotFrozen) {
		return fmt.Errorf("thawed twice: %v", err)
	}
	return finish(ctx, p, x)
}

// TestDeathInSwitch: one of three nodes is killed while the others switch. They are told, and go on without it.
func TestDeathInSwitch(t *testing.T) {
	for _, transport := range []weft.Transport{"shm", "udp", "tcp"} {
		t.Run(string(transport), func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), waittest.Patience)
			defer cancel()
			j, err := job.Start(ctx, job.Config{Ranks: 3, Run: "bereaved", Transport: transport})
			if err != nil {
				t.Fatal(err)
			}
			defer j.Close()
			for node := range 2 {
				if status, err := j.Exit(ctx, node); err != nil || status != 0 {
					t.Errorf("node %d: status %d, %v\n%s", node, status, err, j.Output(node))
				}
			}
		})
	}
}

func bereaved(ctx context.Context, p *weft.Proc) error {
	x, err := open(ctx, p, nil)
	if err != nil {
		return err
	}
	b := p.Barrier("turns", nil)
	for node := range x.Nodes() {
		if err := send(x, node, message(x.Self(), 0), func() error { return nil }); err != nil {
			return err
		}
	}
	var states [2]pm.State
	for turn := range 4 {
		if _, err := x.Switch(ctx, b, &states[turn%2], &states[1-turn%2]); err != nil {
			return err
		}
	}
	if x.Self() == 2 { // when it has frozen the context, and the others have, or will
		if err := x.Freeze(ctx); err != nil {
			return err
		}
		return syscall.Kill(os.Getpid(), syscall.SIGKILL)
	}
	t, err := x.Switch(ctx, b, &states[0], &states[1])
	if !errors.Is(err, weft.ErrPeer) || t.Restored {
		return fmt.Errorf("the switch: %+v, %w", t, err)
	}
	for errors.Is(err, weft.ErrPeer) { // again, without the dead rank: this may be the first call that tells of its death
		err = x.Freeze(ctx)
	}
	if err != nil {
		return fmt.Errorf("freeze: %w", err)
	}
	left := p.Barrier("left", &weft.BarrierConfig{Members: []int{0, 1}})
	if _, err := x.Switch(ctx, left, &states[0], &states[0]); err != nil {
		return fmt.Errorf("without the dead: %w", err)
	}
	if err := send(x, 1-x.Self(), message(x.Self(), 1), func() error { return nil }); err != nil {
		return err
	}
	got := make(cursor, 3)
	news := false
	for got[1-x.Self()] < 2 || !news {
		err := receive(ctx, x, got.next)
		if errors.Is(err, weft.ErrPeer) && !news {
			news = true
			err = nil
		}
		if err != nil {
			return err
		}
	}
	return left.Wait(ctx)
}

// TestRestoreWholeOrNot: if one part of a composite context cannot be restored, the others keep what they have.
func TestRestoreWholeOrNot(t *testing.T) { everywhere(t, 2, "whole or not") }

func wholeOrNot(ctx context.Context, p *weft.Proc) error {
	var parts []*pm.Context
	for channel := range 3 {
		x, err := pm.Open(ctx, p, 1+channel, nil)
		if err != nil {
			return err
		}
		parts = append(parts, x)
	}
	route := func(int) int { return 0 }
	x, err := pm.Compose(route, parts[0], parts[1])
	if err != nil {
		return err
	}
	other, err := pm.Compose(route, parts[0], parts[2])
	if err != nil {
		return err
	}
	step := p.Barrier("step", nil)
	var early pm.State
	if err := errors.Join(x.Freeze(ctx), step.Wait(ctx), x.Save(&early), step.Wait(ctx), x.Thaw()); err != nil {
		return err
	}
	if err := send(x, 1-p.Rank(), []byte("kept"), func() error { return errors.New("no room") }); err != nil {
		return err
	}
	if err := errors.Join(x.Wait(ctx), step.Wait(ctx), other.Freeze(ctx), step.Wait(ctx)); err != nil {
		return err
	}
	if err := other.Restore(&early); !errors.Is(err, weft.ErrSaved) {
		return fmt.Errorf("the state of channels 1 and 2 for 1 and 3: %v", err)
	}
	if err := errors.Join(step.Wait(ctx), other.Thaw()); err != nil {
		return err
	}
	return errors.Join(receive(ctx, x, func(_ int, b []byte) error {
		if string(b) != "kept" {
			return fmt.Errorf("%q came", b)
		}
		return nil
	}), finish(ctx, p, x))
}
