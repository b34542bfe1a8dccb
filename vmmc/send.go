package vmmc

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"weft"
	"weft/failure"
)

// Send writes b into the export at offset off. When it returns b may be reused; later sends to that rank arrive behind
// it. Of up to weft.MaxPut bytes that end at a multiple of 8, the last 8 are written last, as a word, unless the export
// can be redirected: a program that polls them (Export.Load, Export.Await) finds the others in place. A send beyond the
// end of the export is a weft.BoundsError, a send to an export that has been revoked a RevokedError. If ctx ends first
// some of b may have arrived, or may arrive later.
func (i *Import) Send(ctx context.Context, off int, b []byte) (err error) {
	if why := i.ended.Load(); why != nil {
		return why.err
	}
	if i.remote == nil || i.peer.started.Load() > 0 {
		return i.through(ctx, off, b, false)
	}
	if i.mapped || len(b) > weft.MaxPut {
		err = i.remote.Push(ctx, off, b)
	} else if len(b) > 0 { // a few bytes are copied, and on their way when it returns
		err = i.remote.Put(off, b)
	} else {
		err = failure.CheckRange(off, 0, i.size)
	}
	if err != nil {
		return i.explain(err)
	}
	return nil
}

// SendNotify is Send, and has the export's notification handler called when the data is in place.
// If Config.NotifyBuffer is full there, it waits.
func (i *Import) SendNotify(ctx context.Context, off int, b []byte) error {
	return i.through(ctx, off, b, true)
}

// through is Send by a Transfer.
func (i *Import) through(ctx context.Context, off int, b []byte, notify bool) error {
	t, err := i.StartSend(ctx, off, b, notify)
	if err != nil {
		return err
	}
	return t.Wait(ctx)
}

// A Transfer is a send that has been started. The program must call Wait exactly once, and must not
// use the Transfer after that. Until Wait has returned the source belongs to vmmc.
type Transfer struct {
	i      *Import
	push   *weft.Op // of memory that needs no help
	note   *weft.Op // of the notification
	call   *call    // to the owner's endpoint
	src    []byte
	pieces []*weft.Op
	b      [frameSize + maxName]byte
}

var transfers = sync.Pool{New: func() any { return new(Transfer) }}

// StartSend begins Send, or SendNotify if notify is set. The program must not change b until Wait
// has returned. Transfers to one rank arrive in the order in which they were started. StartSend
// waits only for room for a request; a transfer to an export that cannot be redirected also waits
// for earlier transfers to exports of that rank that can. If 512 of the latter are under way the
// error is a LimitError.
func (i *Import) StartSend(ctx context.Context, off int, b []byte, notify bool) (*Transfer, error) {
	if why := i.ended.Load(); why != nil {
		return nil, why.err
	}
	if err := failure.CheckRange(off, len(b), i.size); err != nil {
		return nil, err
	}
	t := transfers.Get().(*Transfer)
	t.i = i
	t.src = b
	f := frame{notify: notify, rank: uint32(i.e.p.Rank()), export: i.export, off: uint64(off), n: uint64(len(b))}
	if err := t.start(ctx, &f); err != nil {
		t.free()
		return nil, i.explain(err)
	}
	return t, nil
}

func (t *Transfer) start(ctx context.Context, f *frame) (err error) {
	i := t.i
	if i.remote == nil {
		f.kind = data
		if t.call, err = i.e.ask(ctx, i.peer, *f, t, nil); err == nil {
			i.peer.started.Add(1)
		}
		return err
	}
	if i.peer.started.Load() > 0 {
		if err := i.fence(ctx); err != nil {
			return err
		}
	}
	if len(t.src) > 0 {
		if t.push, err = i.remote.StartPush(int(f.off), t.src); err != nil {
			return err
		}
	}
	if f.notify {
		t.note, err = i.e.notices.StartSend(i.peer.rank, f.put(&t.b))
	}
	if err != nil && t.push != nil {
		err = errors.Join(err, t.push.Wait(ctx))
	}
	return err
}

func (t *Transfer) free() {
	for _, o := range t.pieces {
		o.Free()
	}
	clear(t.pieces)
	t.i = nil
	t.push = nil
	t.note = nil
	t.call = nil
	t.src = nil
	t.pieces = t.pieces[:0]
	transfers.Put(t)
}

// Done reports whether Wait would return at once.
func (t *Transfer) Done() bool {
	if t.call != nil {
		t.i.e.mu.Lock()
		defer t.i.e.mu.Unlock()
		return t.call.over
	}
	return (t.push == nil || t.push.Done()) && (t.note == nil || t.note.Done())
}

// Wait returns when the data is in place and the source may be reused. Errors are those of Send.
func (t *Transfer) Wait(ctx context.Context) error {
	defer t.free()
	if t.call != nil {
		return t.settle(ctx)
	}
	var err error
	for _, o := range []*weft.Op{t.push, t.note} {
		if o == nil {
			continue
		}
		if e := o.Wait(ctx); err == nil {
			err = e
		}
		o.Free()
	}
	return t.i.explain(err)
}

// flow sends the pieces of the transfer, when the owner is ready for them, which may be before
// StartSend has returned. The endpoint's lock is held.
func (t *Transfer) flow(c *call) {
	size := pieceOf(len(t.src))
	for at := 0; at < len(t.src); at += size {
		o, err := t.i.e.bulk.StartSend(t.i.peer.rank, t.src[at:min(at+size, len(t.src))])
		if err != nil {
			t.i.peer.end(c, err)
			return
		}
		t.pieces = append(t.pieces, o)
	}
}

// settle waits for the owner's endpoint to say that all has landed.
func (t *Transfer) settle(ctx context.Context) error {
	e := t.i.e
	p := t.i.peer
	reply, _, err := e.wait(ctx, p, t.call)
	e.mu.Lock()
	defer e.mu.Unlock()
	if err != nil || reply.status != fine {
		t.withdraw()
	} else {
		for _, o := range t.pieces {
			_ = o.Wait(e.ctx) // it has been received
		}
	}
	p.started.Add(-1)
	if err != nil {
		doing := fmt.Sprintf("vmmc: transfer of %d bytes to export %q of rank %d", len(t.src), t.i.name, p.rank)
		return failure.Waited(err, doing, "")
	}
	return t.i.refusal(reply.status, len(t.src))
}

// withdraw takes back the pieces that have not been received, and tells the owner's endpoint by an
// empty message. The lock is held.
func (t *Transfer) withdraw() {
	unsent := false
	for _, o := range t.pieces {
		if o.Wait(ended) != nil {
			unsent = true
		}
	}
	if unsent {
		t.i.e.abandon(t.i.peer)
	}
}

// ended is a context that has ended.
var ended = func() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}()

// refusal returns the error that the status of a reply stands for, or nil.
func (i *Import) refusal(s status, n int) error {
	switch s {
	case fine:
		return nil
	case refused:
		return &RefusedError{i.peer.rank, i.name}
	case outside:
		return &weft.BoundsError{Off: i.size, Len: n, Size: i.size}
	case aborted:
		return ErrAborted
	}
	if why := i.ended.Load(); why != nil {
		return why.err
	}
	return &RevokedError{i.peer.rank, i.name, "its owner has ended it"}
}
