package pm

import (
	"context"
	"errors"

	"weft"
	"weft/failure"
)

// maxTransfers is how many writes, and how many reads, can be under way at the same time.
const maxTransfers = 128

// Write begins to write n bytes of locked memory of this node into locked memory of another node
// (pmWrite). The program must not change these bytes until WriteDone has returned nil. A message
// that is sent to the same node afterwards, over the same part of the context, arrives after the
// bytes. If too many writes are under way the error is weft.ErrWouldBlock (ENOBUFS). At the first
// use of a handle Write asks the handle's node, and waits for the answer until ctx ends.
func (x *Context) Write(ctx context.Context, remote, local Handle, n int) error {
	b, r, err := x.ends(ctx, &x.writes, remote, local, n)
	if err != nil {
		return err
	}
	op, err := r.StartPush(remote.Offset, b)
	return x.writes.begun(op, remote, err)
}

// Read begins to read n bytes of locked memory of another node into locked memory of this node
// (pmRead). The bytes have arrived when ReadDone has returned nil. In all else it is like Write.
func (x *Context) Read(ctx context.Context, remote, local Handle, n int) error {
	b, r, err := x.ends(ctx, &x.reads, remote, local, n)
	if err != nil {
		return err
	}
	op, err := r.StartPull(b, remote.Offset)
	return x.reads.begun(op, remote, err)
}

// WriteDone returns nil if all writes have been done, weft.ErrWouldBlock if some have not, and
// otherwise the error of the first write that has failed since the last call (pmIsWriteDone).
func (x *Context) WriteDone() error { return x.writes.done() }

// ReadDone is WriteDone for reads (pmIsReadDone).
func (x *Context) ReadDone() error { return x.reads.done() }

// ends returns the memory at both ends of a transfer that may begin.
func (x *Context) ends(
	ctx context.Context, t *transfers, remote, local Handle, n int,
) (b []byte, r *weft.Remote, err error) {
	if len(t.ops) == maxTransfers {
		if t.collect(); len(t.ops) == maxTransfers {
			return nil, nil, weft.ErrWouldBlock
		}
	}
	area, err := x.area(local)
	if err != nil {
		return nil, nil, err
	}
	b = area.Bytes()
	if err := failure.CheckRange(local.Offset, n, len(b)); err != nil {
		return nil, nil, err
	}
	r, err = x.remote(ctx, remote)
	return b[local.Offset:][:n], r, err
}

// transfers are the writes, or the reads, that are under way.
type transfers struct {
	ops     []*weft.Op
	handles []Handle // for each, the handle of the other node's memory
	err     error    // the first failure that has not been reported
}

// begun records a transfer that has begun, or returns why it has not.
func (t *transfers) begun(op *weft.Op, remote Handle, err error) error {
	if err != nil {
		return unlocked(remote, err)
	}
	if op.Done() {
		err = op.Wait(context.Background())
		op.Free()
		return unlocked(remote, err)
	}
	t.ops = append(t.ops, op)
	t.handles = append(t.handles, remote)
	return nil
}

// collect removes the transfers that have ended.
func (t *transfers) collect() {
	left := 0
	for i, op := range t.ops {
		if !op.Done() {
			t.ops[left] = op
			t.handles[left] = t.handles[i]
			left++
			continue
		}
		t.end(context.Background(), i)
	}
	t.ops = t.ops[:left]
	t.handles = t.handles[:left]
}

// end waits for a transfer, and keeps its error if it is the first.
func (t *transfers) end(ctx context.Context, i int) {
	if err := t.ops[i].Wait(ctx); err != nil && t.err == nil {
		t.err = unlocked(t.handles[i], err)
	}
	t.ops[i].Free()
}

// done is WriteDone or ReadDone.
func (t *transfers) done() error {
	t.collect()
	err := t.err
	switch {
	case err != nil:
		t.err = nil
	case len(t.ops) > 0:
		err = weft.ErrWouldBlock
	}
	return err
}

// unlocked adds to an error that the memory of a handle is no longer locked, if that is its reason.
func unlocked(h Handle, err error) error {
	if errors.Is(err, weft.ErrClosed) || errors.Is(err, weft.ErrNoRegion) {
		return errors.Join(&HandleError{h, "the memory is not locked any more"}, err)
	}
	return err
}
