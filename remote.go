package weft

import (
	"context"
	"errors"
	"fmt"

	"weft/failure"
	"weft/internal/amt"
	"weft/internal/counters"
	"weft/internal/driver"
	"weft/internal/engine/rma"
	"weft/internal/engine/wire"
	"weft/internal/timeline"
	"weft/internal/transport"
)

// A Remote is a region of another rank, or of this one. Offsets and sizes are in bytes. An access
// that does not lie inside the region fails with a BoundsError. Any number of goroutines may
// use a Remote.
type Remote struct {
	p      *Proc
	rank   int
	name   string
	found  rma.Found
	direct *transport.Mapping // of the region here, or nil
	window transport.Window   // by which a device reaches the region, or nil
	peer   *driver.Peer
	counts *counters.Peer
	lock   uint64 // under which it is accessed, or 0
	epoch  uint64
}

// AttachRegion reaches the region that a rank has opened under a name. It waits until the
// rank has opened it. The Remote holds nothing that must be given back.
func (p *Proc) AttachRegion(ctx context.Context, rank int, name string) (*Remote, error) {
	if err := checkRegionName(name); err != nil {
		return nil, err
	}
	r, err := p.attach(ctx, rank, name)
	return r, err
}

// attach is AttachRegion for any name.
func (p *Proc) attach(ctx context.Context, rank int, name string) (*Remote, error) {
	if err := p.check(rank); err != nil {
		return nil, err
	}
	c := driver.NewCall()
	defer c.Free()
	c.RMA.Kind = rma.Attach
	c.RMA.Peer = rank
	c.RMA.Name = name
	if err := p.node.Memory(ctx, c); err != nil {
		return nil, err
	}
	r := &Remote{p: p, rank: rank, name: name, found: c.RMA.Found, peer: p.node.Peer(rank), counts: p.node.CountsOf(rank)}
	if r.direct = r.mapped(); r.direct == nil && rank != p.job.Rank {
		r.window = r.peer.Reach(ctx, r.found)
	}
	return r, nil
}

// mapped returns the memory of a region if it is here, or can be mapped; else nil.
func (r *Remote) mapped() *transport.Mapping {
	if r.rank == r.p.job.Rank {
		return r.p.own(r.found)
	}
	return r.peer.Map(r.found)
}

// own returns the memory of a region of this rank, so that operations of this rank on it need no
// packets. Operations that arrive in packets use atomic instructions, too. In a simulation it
// returns nil where operations take time, as packets do.
func (p *Proc) own(found rma.Found) *transport.Mapping {
	p.open.Lock()
	r := p.open.regions[found.Region]
	p.open.Unlock()
	switch {
	case r == nil: // a mailbox
		return p.memory.Mapping(found.Mem)
	case r.region.Guard != 0 || r.whole.ID == 0 && p.node.Hosted():
		return nil
	}
	return r.whole.Mapping
}

// Under returns a Remote for the same region that accesses it under a grant of the lock that
// guards it (RegionConfig.Lock). Operations fail with ErrFenced if the lock has since gone to
// another rank that has accessed the region, or was taken from this rank because it counted
// as dead.
func (r *Remote) Under(g Grant) *Remote {
	u := *r
	u.lock = g.lock
	u.epoch = g.Epoch
	return &u
}

// Rank returns the rank that has the region.
func (r *Remote) Rank() int { return r.rank }

// Size returns the region's size.
func (r *Remote) Size() int { return r.found.Size }

// Direct reports whether this process has mapped the memory: then operations need no packets
// and no help from the rank that has it.
func (r *Remote) Direct() bool { return r.direct != nil }

// Bytes returns the region's memory, if this process has mapped it; else nil. The program may read it, and write to it
// unless the region is read only. It must not be used when the Remote is not used any more, or after the owner has
// closed the region.
func (r *Remote) Bytes() []byte {
	if r.direct == nil {
		return nil
	}
	return r.direct.Bytes[:r.found.Size:r.found.Size]
}

// writable returns an error if the region may only be read.
func (r *Remote) writable() error {
	if r.found.ReadOnly {
		return &RegionError{Rank: r.rank, Name: r.name, Err: ErrReadOnly}
	}
	return nil
}

// near reads or writes mapped memory, as kind says. If the memory is updated, code says how.
func (r *Remote) near(kind rma.Kind, off int, code wire.Code, b []byte) error {
	if len(b) < timeline.LeastNoted {
		return r.access(kind, off, code, b)
	}
	began := r.p.timeline.Mark()
	err := r.access(kind, off, code, b)
	if r.p.timeline != nil {
		r.p.timeline.Note(began, noted(kind), 0, r.rank, len(b), err)
	}
	if err == nil && len(b) >= counters.LongAccess {
		r.countLong(kind, len(b))
	}
	return err
}

// access is near without recording it.
func (r *Remote) access(kind rma.Kind, off int, code wire.Code, b []byte) (err error) {
	if err := r.peer.Gone(); err != nil {
		return r.lost(err)
	}
	if kind == rma.Pull {
		err = driver.Read(r.direct, r.rank, r.found.Size, off, b)
	} else {
		err = driver.Write(r.direct, r.rank, r.found.Size, off, code, b)
	}
	if err != nil {
		return r.named(err)
	}
	return nil
}

// noted returns how the timeline calls a read or a write.
func noted(kind rma.Kind) timeline.Kind {
	if kind == rma.Pull {
		return timeline.Pull
	}
	return timeline.Push
}

// countLong counts bytes that have not gone in packets.
func (r *Remote) countLong(kind rma.Kind, n int) {
	if kind == rma.Pull {
		r.counts.Got(n)
	} else {
		r.counts.Wrote(n)
	}
}

// nearWord carries out an atomic operation on mapped memory.
func (r *Remote) nearWord(off int, code wire.Code, a, b uint64) (old uint64, err error) {
	if err := r.peer.Gone(); err != nil {
		return 0, r.lost(err)
	}
	if old, err = driver.Atomic(r.direct, r.rank, r.found.Size, off, code, a, b); err != nil {
		return old, r.named(err)
	}
	return old, nil
}

// lost says in the error that a rank is gone which region was to be accessed.
func (r *Remote) lost(err error) error {
	return failure.Waited(err, fmt.Sprintf("region %q of rank %d", r.name, r.rank), "")
}

// named puts the region's name into an error.
func (r *Remote) named(err error) error {
	var e *RegionError
	if errors.As(err, &e) {
		e.Name = r.name
	}
	return err
}

// begin checks an operation as far as this rank can, and hands it to the engine.
func (r *Remote) begin(c *driver.Call, kind rma.Kind, off int, b []byte) error {
	op := &c.RMA
	op.Kind = kind
	if kind != rma.Flush { // the PUT that it reports may be one to another region
		op.Name = r.name
	}
	if err := r.aim(op, off, b); err != nil {
		return err
	}
	r.p.node.Begin(c)
	return nil
}

// aim says in an operation which bytes of the region it is for, if these are there.
func (r *Remote) aim(op *rma.Op, off int, b []byte) error {
	op.Peer = r.rank
	op.Region = r.found.Region
	op.Key = r.found.Key
	op.Off = uint64(off)
	op.Buf = b
	op.Lock = r.lock
	op.Epoch = r.epoch
	return op.Check(r.found.Size)
}

// Push writes src at off. It returns when the data is in place and src may be used again. A write
// of one aligned 8-byte word is seen whole or not at all.
func (r *Remote) Push(ctx context.Context, off int, src []byte) error {
	if err := r.writable(); err != nil {
		return err
	}
	r.p.count(r.rank, amt.Push, len(src))
	return r.move(ctx, rma.Push, off, src)
}

// Pull reads len(dst) bytes from off into dst. It is not atomic: if other ranks write at the same
// time, each byte is seen as it was before or after the write. To read a word atomically use
// FetchAdd of 0.
func (r *Remote) Pull(ctx context.Context, dst []byte, off int) error {
	r.p.count(r.rank, amt.Pull, len(dst))
	return r.move(ctx, rma.Pull, off, dst)
}

func (r *Remote) move(ctx context.Context, kind rma.Kind, off int, b []byte) error {
	if r.direct != nil {
		return r.near(kind, off, wire.CodeSwap, b)
	}
	if r.window != nil && r.lock == 0 && r.peer.Puts.Load() == r.peer.Settled.Load() {
		if done, err := r.reach(ctx, kind, off, b); done || err != nil {
			return err
		}
	}
	c := driver.NewCall()
	defer c.Free()
	if err := r.begin(c, kind, off, b); err != nil {
		return err
	}
	return r.p.node.Wait(ctx, c)
}

// reach writes or reads by a device, and reports whether it could. If not packets carry the bytes.
func (r *Remote) reach(ctx context.Context, kind rma.Kind, off int, b []byte) (done bool, err error) {
	if err := failure.CheckRange(off, len(b), r.found.Size); err != nil {
		return false, err
	}
	if err := r.peer.Gone(); err != nil {
		return false, r.lost(err)
	}
	ctx = driver.Endless(ctx)
	began := r.p.timeline.Mark()
	if kind == rma.Pull {
		done = r.window.Read(ctx, off, b)
	} else {
		done = r.window.Write(ctx, off, b)
	}
	if !done {
		return false, nil
	}
	r.countLong(kind, len(b))
	if r.p.timeline != nil {
		r.p.timeline.Note(began, noted(kind), 0, r.rank, len(b), nil)
	}
	return true, nil
}

// MaxPut is the most bytes that Put takes.
const MaxPut = 2 * wire.MaxPut

// Put writes up to MaxPut bytes at off. It copies b, and does not wait until the data is in place. If off+len(b) is a
// multiple of 8, the last 8 bytes are written last, as a word: a rank that polls them (Region.Load, Region.Await) finds
// the others in place. Flush waits until the data is in place, and returns an error if the rank refused a Put.
func (r *Remote) Put(off int, b []byte) error { return r.Update(off, UpdateReplace, b) }

// FetchAdd atomically adds delta to the 8-byte word at off, and returns its former value. Off
// must be a multiple of 8. Words are in the byte order of the host that has them; the sum
// wraps around.
func (r *Remote) FetchAdd(ctx context.Context, off int, delta uint64) (old uint64, err error) {
	return r.atomic(ctx, wire.CodeAdd, off, delta, 0)
}

// Swap atomically writes the 8-byte word at off, and returns its former value. Off must be a
// multiple of 8.
func (r *Remote) Swap(ctx context.Context, off int, v uint64) (old uint64, err error) {
	return r.atomic(ctx, wire.CodeSwap, off, v, 0)
}

// CompareSwap atomically writes v to the 8-byte word at off if its value is old. It returns the
// former value: v has been written if that equals old. Off must be a multiple of 8.
func (r *Remote) CompareSwap(ctx context.Context, off int, old, v uint64) (seen uint64, err error) {
	return r.atomic(ctx, wire.CodeCompareSwap, off, old, v)
}

func (r *Remote) atomic(ctx context.Context, code wire.Code, off int, a, b uint64) (uint64, error) {
	if err := r.writable(); err != nil {
		return 0, err
	}
	r.p.count(r.rank, amt.Atomic, 8)
	if r.direct != nil {
		return r.nearWord(off, code, a, b)
	}
	c := driver.NewCall()
	defer c.Free()
	c.RMA.Code = code
	c.RMA.A = a
	c.RMA.B = b
	if err := r.begin(c, rma.Atomic, off, nil); err != nil {
		return 0, err
	}
	err := r.p.node.Wait(ctx, c)
	return c.RMA.Value, err
}

// Flush returns when all operations that this process has begun on regions of the rank have been
// carried out. It returns a RegionError if the rank refused a Put.
func (r *Remote) Flush(ctx context.Context) error {
	if r.direct != nil {
		if err := r.peer.Gone(); err != nil {
			return r.lost(err)
		}
		return nil
	}
	c := driver.NewCall()
	defer c.Free()
	c.RMA.Kind = rma.Flush
	c.RMA.Peer = r.rank
	puts := r.peer.Puts.Load()
	err := r.p.node.Memory(ctx, c)
	if err == nil {
		r.peer.Settled.Store(puts)
	}
	return err
}
