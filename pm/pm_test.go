//go:build linux

package pm_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"weft"
	"weft/pm"
)

// programs are those that everywhere runs.
var programs = map[string]func(context.Context, *weft.Proc) error{
	"exchange": exchange, "truncate": truncate, "transfer": transfer, "full": full, "asleep": asleep,
	"handles": handles, "composite": composite, "noalloc": noalloc,
	"turns": turns, "frozen": frozen, "bereaved": bereaved, "whole or not": wholeOrNot,
}

// TestMain makes this test's executable what weft.Launch starts.
func TestMain(m *testing.M) {
	weft.Launched(programs)
	os.Exit(m.Run())
}

// everywhere runs a program of so many nodes as goroutines, in the simulator with loss, with machines of one node and
// of two, and as processes over each transport.
func everywhere(t *testing.T, nodes int, name string) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	t.Run("pipe", func(t *testing.T) {
		if err := weft.Local(ctx, nodes, programs[name]); err != nil {
			t.Error(err)
		}
	})
	for _, perHost := range []int{0, 2} {
		t.Run(fmt.Sprintf("sim, %d on a host", max(perHost, 1)), func(t *testing.T) {
			c := weft.Cluster{Ranks: nodes, PerHost: perHost, Topology: "ring", Loss: 0.01, Seed: 7}
			if _, err := weft.Simulate(ctx, c, programs[name]); err != nil {
				t.Error(err)
			}
		})
	}
	for _, transport := range []weft.Transport{"shm", "udp", "tcp"} {
		t.Run(string(transport), func(t *testing.T) {
			job, err := weft.Launch(ctx, nodes, &weft.LaunchConfig{Run: name, Transport: transport})
			if err != nil {
				t.Fatal(err)
			}
			defer job.Close()
			if err := job.Wait(ctx); err != nil {
				for node := range nodes {
					t.Logf("node %d: %s", node, job.Output(node))
				}
				t.Error(err)
			}
		})
	}
}

func TestExchange(t *testing.T)  { everywhere(t, 4, "exchange") }
func TestTruncate(t *testing.T)  { everywhere(t, 2, "truncate") }
func TestTransfer(t *testing.T)  { everywhere(t, 3, "transfer") }
func TestFull(t *testing.T)      { everywhere(t, 3, "full") }
func TestAsleep(t *testing.T)    { everywhere(t, 2, "asleep") }
func TestHandles(t *testing.T)   { everywhere(t, 2, "handles") }
func TestComposite(t *testing.T) { everywhere(t, 4, "composite") }

// simulated reports whether the node is in a simulation.
func simulated(p *weft.Proc) bool { return strings.HasPrefix(p.Host(), "machine") }

// open opens channel 1.
func open(ctx context.Context, p *weft.Proc, cfg *pm.Config) (*pm.Context, error) {
	return pm.Open(ctx, p, 1, cfg)
}

// send sends a message; while there is no room it does what the caller gives it to do.
func send(x *pm.Context, node int, b []byte, meanwhile func() error) error {
	for {
		buf, err := x.GetSendBuffer(node, len(b))
		if err == nil {
			copy(buf, b)
			return x.Send()
		}
		if err != weft.ErrWouldBlock {
			return err
		}
		if err := meanwhile(); err != nil {
			return err
		}
	}
}

// receive takes the next message, when there is one.
func receive(ctx context.Context, x *pm.Context, take func(from int, b []byte) error) error {
	for {
		b, from, err := x.Receive()
		if err == nil {
			return errors.Join(take(from, b), x.ReleaseReceiveBuffer())
		}
		if err != weft.ErrWouldBlock {
			return err
		}
		if err := x.Wait(ctx); err != nil {
			return err
		}
	}
}

// again calls f until it does not return ErrWouldBlock.
func again(ctx context.Context, f func() error) error {
	for {
		if err := f(); err != weft.ErrWouldBlock || ctx.Err() != nil {
			return err
		}
	}
}

// finish waits for all nodes, since a context that is closed takes nothing.
func finish(ctx context.Context, p *weft.Proc, x *pm.Context) error {
	if err := p.Barrier("finish", nil).Wait(ctx); err != nil {
		return err
	}
	return x.Close()
}

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
	const each = 200
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
				if _, _, err := x.Receive(); !errors.Is(err, pm.ErrBusy) {
					return fmt.Errorf("a second message: %v", err)
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

// transfer: each node writes into the memory of the next one and reads from it.
func transfer(ctx context.Context, p *weft.Proc) error {
	const size = 50_000
	x, err := open(ctx, p, nil)
	if err != nil {
		return err
	}
	in, hin, err := x.MLock(ctx, pm.Any, size)
	if err != nil {
		return err
	}
	out, hout, err := x.MLock(ctx, pm.Any, size)
	if err != nil {
		return err
	}
	for i := range out {
		out[i] = byte(i * (x.Self() + 3))
	}
	next := (x.Self() + 1) % x.Nodes()
	before := (x.Self() + x.Nodes() - 1) % x.Nodes()
	b, err := hin.MarshalBinary()
	if err != nil {
		return err
	}
	if err := send(x, before, b, func() error { return nil }); err != nil {
		return err
	}
	var there pm.Handle
	if err := receive(ctx, x, func(_ int, b []byte) error { return there.UnmarshalBinary(b) }); err != nil {
		return err
	}
	if there.Node != next {
		return fmt.Errorf("the handle is of node %d, want %d", there.Node, next)
	}
	for off := 0; off < size; off += 10_000 {
		err := again(ctx, func() error { return x.Write(ctx, there.Add(off), hout.Add(off), 10_000) })
		if err != nil {
			return err
		}
	}
	if err := again(ctx, x.WriteDone); err != nil {
		return err
	}
	if err := p.Barrier("written", nil).Wait(ctx); err != nil {
		return err
	}
	for i := range in {
		if in[i] != byte(i*(before+3)) {
			return fmt.Errorf("byte %d is %d", i, in[i])
		}
	}
	clear(out)
	if err := x.Read(ctx, there.Add(100), hout.Add(7), 1000); err != nil {
		return err
	}
	if err := again(ctx, x.ReadDone); err != nil {
		return err
	}
	for i := range 1000 {
		if out[7+i] != byte((100+i)*(x.Self()+3)) {
			return fmt.Errorf("byte %d read is %d", i, out[7+i])
		}
	}
	return finish(ctx, p, x)
}

// handles: what is wrong with a handle is said, at the end that can tell, and nothing is touched.
func handles(ctx context.Context, p *weft.Proc) error {
	x, err := open(ctx, p, nil)
	if err != nil {
		return err
	}
	step := p.Barrier("step", nil)
	there, h, err := partner(ctx, x, 100)
	if err != nil {
		return err
	}
	forged := pm.Handle{Node: there.Node}
	for what, want := range map[string]struct {
		err error
		is  error
	}{
		"a handle of nothing":        {x.Write(ctx, forged, h, 1), pm.ErrHandle},
		"of another node as local":   {x.Write(ctx, there, there, 1), pm.ErrHandle},
		"of no node":                 {x.Read(ctx, pm.Handle{Node: 7}, h, 1), weft.ErrRank},
		"too many bytes here":        {x.Write(ctx, there, h, 101), weft.ErrBounds},
		"an offset below":            {x.Read(ctx, there, h.Add(-1), 1), weft.ErrBounds},
		"too many bytes there":       {x.Write(ctx, there.Add(50), h, 51), weft.ErrBounds},
		"unlocking of other memory":  {x.MUnlock(there), pm.ErrHandle},
		"a handle that is no handle": {there.UnmarshalBinary(make([]byte, 23)), pm.ErrHandle},
	} {
		if !errors.Is(want.err, want.is) {
			return fmt.Errorf("%s: %v", what, want.err)
		}
	}
	if x.Self() == 0 { // node 1 writes nothing: its memory is being written
		if err := x.Write(ctx, there, h, 100); err != nil {
			return err
		}
		if err := again(ctx, x.WriteDone); err != nil {
			return err
		}
	}
	if err := step.Wait(ctx); err != nil {
		return err
	}
	if x.Self() == 1 {
		if err := x.MUnlock(h); err != nil {
			return err
		}
		if err := x.MUnlock(h); !errors.Is(err, pm.ErrHandle) {
			return fmt.Errorf("unlocked twice: %v", err)
		}
		_, other, err := x.MLock(ctx, 0, 100) // in the same slot
		if err != nil || other == h {
			return fmt.Errorf("%v, %v", other, err)
		}
	}
	if err := step.Wait(ctx); err != nil {
		return err
	}
	if x.Self() == 0 {
		err := x.Write(ctx, there, h, 1)
		if err == nil {
			err = again(ctx, x.WriteDone)
		}
		if !errors.Is(err, pm.ErrHandle) || !errors.Is(err, weft.ErrClosed) {
			return fmt.Errorf("memory that was unlocked: %v", err)
		}
	}
	return finish(ctx, p, x)
}

// composite: to nodes that are near goes one channel, to those that are far another, and messages of both are
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
