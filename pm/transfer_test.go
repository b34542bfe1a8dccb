//go:build linux

package pm_test

import (
	"context"
	"errors"
	"fmt"

	"weft"
	"weft/pm"
)

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
