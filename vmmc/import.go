package vmmc

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	"weft"
	"weft/failure"
)

// An Import is an export of another rank, or of this one, into which this rank sends. Any number of
// goroutines may use it.
type Import struct {
	e      *Endpoint
	peer   *peer
	name   string
	export uint32
	size   int
	remote *weft.Remote // nil if the owner's endpoint takes part in transfers
	mapped bool         // the export is mapped in this process
	ended  atomic.Pointer[ending]
	cancel context.CancelFunc // ends the attaching of Endpoint.Import
}

// An ending is the error of later calls of an import that has ended.
type ending struct{ err error }

// Import returns an import of an export of a rank, by its name, and waits until the name is
// exported or ctx ends. The error is a RefusedError if the owner does not permit it, a
// weft.RankError if there is no such rank, and matches weft.ErrPeer if the rank has died or left.
func (e *Endpoint) Import(ctx context.Context, rank int, name string) (*Import, error) {
	if rank < 0 || rank >= len(e.peers) {
		return nil, &weft.RankError{Rank: rank, Size: len(e.peers)}
	}
	if err := checkName(name); err != nil {
		return nil, err
	}
	doing := fmt.Sprintf("vmmc: import of %q of rank %d", name, rank)
	i := &Import{e: e, peer: e.peers[rank], name: name}
	if ctx == nil {
		ctx = context.Background()
	}
	attaching, cancel := context.WithCancel(ctx)
	defer cancel()
	i.cancel = cancel
	c, err := e.ask(ctx, i.peer, frame{kind: importing, name: []byte(name)}, nil, i)
	if err != nil {
		return nil, failure.Waited(err, doing, "")
	}
	op := c.op
	reply, over, err := e.wait(ctx, i.peer, c)
	switch {
	case err != nil:
		if !over {
			e.p.Go(func() { _ = e.post(rank, &frame{kind: cancelled, n: op}) })
		}
		return nil, failure.Waited(err, doing, "")
	case reply.status == refused:
		return nil, &RefusedError{rank, name}
	case reply.status != fine || reply.n > 1<<40:
		return nil, &LimitError{rank, maxRequests}
	}
	i.size = int(reply.n)
	if reply.off == 1 {
		return i, nil
	}
	if i.remote, err = e.p.AttachRegion(attaching, rank, e.regionName(i.export)); err != nil {
		if why := i.ended.Load(); why != nil {
			return nil, why.err
		}
		e.p.Go(func() { _ = i.Close(e.ctx) })
		return nil, failure.Waited(err, doing, "")
	}
	i.mapped = i.remote.Direct()
	if i.remote.Size() != i.size {
		return nil, &RevokedError{rank, name, "its size is not what its owner says"}
	}
	return i, nil
}

// Rank returns the rank that owns the export.
func (i *Import) Rank() int { return i.peer.rank }

// Name returns the name of the export.
func (i *Import) Name() string { return i.name }

// Size returns the size of the export in bytes.
func (i *Import) Size() int { return i.size }

// Direct reports whether the export is mapped in this process, so that sends need no help of its
// owner.
func (i *Import) Direct() bool { return i.mapped }

// revoked ends the imports of an export that its owner has ended.
func (e *Endpoint) revoked(p *peer, f frame) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, i := range p.imports[f.export] {
		i.end(&RevokedError{p.rank, i.name, string(f.name)})
	}
	delete(p.imports, f.export)
}

// end ends the import, and reports whether it was not ended already.
func (i *Import) end(why error) bool {
	if !i.ended.CompareAndSwap(nil, &ending{why}) {
		return false
	}
	i.cancel()
	return true
}

// Close waits until all that was sent is in place, and ends the import, so that its owner can end
// the export. Later sends end with weft.ErrClosed. It is no error if the owner has gone by then,
// unless data that was sent has been lost.
func (i *Import) Close(ctx context.Context) error {
	err := i.Flush(ctx)
	if !i.end(weft.ErrClosed) {
		return i.ended.Load().err
	}
	i.e.mu.Lock()
	all := i.peer.imports
	if left := slices.DeleteFunc(all[i.export], func(o *Import) bool { return o == i }); len(left) > 0 {
		all[i.export] = left
	} else {
		delete(all, i.export)
	}
	i.e.mu.Unlock()
	e := i.e.request(ctx, i.peer, frame{kind: unimport, export: i.export})
	doing := fmt.Sprintf("vmmc: end of the import of %q of rank %d", i.name, i.peer.rank)
	return errors.Join(err, failure.Waited(unlessGone(e), doing, ""))
}

// Flush returns when all that was sent before is in place, or with the error of a send that the
// owner has refused.
func (i *Import) Flush(ctx context.Context) error {
	if why := i.ended.Load(); why != nil {
		return why.err
	}
	if i.peer.started.Load() > 0 {
		if err := i.fence(ctx); err != nil {
			return err
		}
	}
	if i.remote == nil {
		return nil
	}
	return i.explain(i.remote.Flush(ctx))
}

// fence returns when the owner's endpoint has done all earlier requests.
func (i *Import) fence(ctx context.Context) error {
	err := i.e.request(ctx, i.peer, frame{kind: fence})
	return failure.Waited(err, fmt.Sprintf("vmmc: transfers to rank %d", i.peer.rank), "")
}

// explain turns the error of a region that has been closed into one of the import.
func (i *Import) explain(err error) error {
	if !errors.Is(err, weft.ErrClosed) {
		return err
	}
	if why := i.ended.Load(); why != nil {
		return why.err
	}
	var closed *weft.RegionError
	if errors.As(err, &closed) {
		return &RevokedError{i.peer.rank, i.name, "its owner has taken the memory back"}
	}
	return err
}
