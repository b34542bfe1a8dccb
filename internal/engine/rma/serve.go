package rma

import (
	"fmt"
	"slices"

	"weft/failure"
	"weft/internal/engine/wire"
	"weft/internal/mailbox"
)

// A Region is memory of this process that others may reach.
type Region struct {
	ID       uint32
	Key      uint64
	Name     string
	Bytes    []byte
	Mem      uint32 // the shared memory that it lies in, or 0
	ReadOnly bool
	Ranks    []int // that may access it, in ascending order; nil means all

	// Guard is the lock that guards the region, or 0; Fence is the epoch before
	// which no rank may access it any more.
	Guard, Fence uint64

	// Latch is the word in Bytes that updates of words take, or nil: other processes that map the memory update many
	// words at a time while they have it. Self is what stands there meanwhile. Dead reports whether the process of
	// another number has ended: the engine waits for the latch, and learns nothing meanwhile.
	Latch []byte
	Self  uint64
	Dead  func(holder uint64) bool

	// Box is the mailbox that the memory is, or nil; then only IPUSH reaches it.
	Box     *mailbox.Box
	owner   *mailbox.Writer // our engine, as it writes there
	Stall   bool            // its senders are held up when it is full, where that can be
	stopped []*inflow       // that wait to go on
	held    int             // peers with a frame that waits for room
}

// Expose makes memory reachable under a name, and answers peers that asked for
// it before. Only the ranks named may access it, or all if that is nil.
func (l *Layer) Expose(name string, bytes []byte, mem uint32, readOnly bool, guard uint64,
	ranks []int) (*Region, error) {
	return l.expose(&Region{Name: name, Bytes: bytes, Mem: mem, ReadOnly: readOnly, Guard: guard, Fence: l.raised[guard],
		Ranks: ascending(ranks)})
}

// ascending returns a copy in that order, or nil of nil.
func ascending(ranks []int) []int {
	s := slices.Clone(ranks)
	slices.Sort(s)
	return s
}

// admits reports whether a rank may access the region.
func (r *Region) admits(rank int) bool {
	if r.Ranks == nil {
		return true
	}
	_, ok := slices.BinarySearch(r.Ranks, rank)
	return ok
}

// expose gives a region its number and key, and answers peers that wait for it.
func (l *Layer) expose(r *Region) (*Region, error) {
	if l.names[r.Name] != nil {
		return nil, fmt.Errorf("weft: region %q is already exposed: %w", r.Name, failure.ErrInUse)
	}
	l.region++
	r.ID = l.region
	r.Key = l.key()
	l.regions[r.ID] = r
	l.names[r.Name] = r
	if l.Admit != nil {
		l.Admit(r)
	}
	for _, w := range l.attaches[r.Name] {
		l.attached(l.peer(w.from), w.op, r)
	}
	l.attachCount -= len(l.attaches[r.Name])
	delete(l.attaches, r.Name)
	return r, nil
}

// Withdraw ends the exposure. Nothing below will touch the memory afterwards,
// except packets that a lossy link has yet to repeat: the caller must detach
// it there too. Reads that were being answered end with a refusal.
func (l *Layer) Withdraw(r *Region) {
	delete(l.regions, r.ID)
	delete(l.names, r.Name)
	if r.Box != nil {
		l.closeMailbox(r)
	}
	for _, rank := range l.ranks() {
		p := l.peers[rank]
		for _, id := range p.q.Detach(r.Bytes) {
			p.result(id, wire.StatusClosed, 0)
		}
	}
}

// serve handles a peer's request.
func (l *Layer) serve(from int, frame []byte, mayStall bool) error {
	p := l.peer(from)
	if p.q.Replies() > maxAnswers {
		l.Stats.Refused++
		return nil
	}
	l.Stats.Served++
	p.q.Counts.Received.Accesses++
	switch wire.Type(frame[0]) {
	case wire.TypeAttach:
		return wire.TakeLoaded(p, frame, wire.ParseAttach, l.onAttach)
	case wire.TypePush:
		return wire.TakeLoaded(p, frame, wire.ParsePush, l.onPush)
	case wire.TypeIPush:
		f, payload, err := wire.ParseIPush(frame)
		if err != nil {
			return err
		}
		return l.onIPush(p, f, payload, mayStall)
	case wire.TypeKnock:
		return wire.Take(p, frame, wire.ParseKnock, l.onKnock)
	case wire.TypePut:
		return wire.TakeLoaded(p, frame, wire.ParsePut, l.onPut)
	case wire.TypePull:
		return wire.Take(p, frame, wire.ParsePull, l.onPull)
	case wire.TypeAtomic:
		return wire.Take(p, frame, wire.ParseAtomic, l.onAtomic)
	case wire.TypeGuard:
		return wire.Take(p, frame, wire.ParseGuard, l.onGuard)
	case wire.TypeFlush:
		return wire.Take(p, frame, wire.ParseFlush, (*peer).onFlush)
	default:
		return wire.ErrType
	}
}

// result answers a request.
func (p *peer) result(op uint32, s wire.Status, value uint64) {
	p.q.Push(wire.Result{Status: s, Op: op, Value: value}.Append(p.q.Head()), nil, p.rings())
}

// onFlush answers a FLUSH, after the answers to all that was asked before.
func (p *peer) onFlush(f wire.Flush) {
	s := p.failedPut
	p.failedPut = wire.StatusOK
	if !p.q.Bulk() {
		p.result(f.Op, s, 0)
		return
	}
	p.q.PushLast(wire.Result{Status: s, Op: f.Op}.Append(p.q.Head()), nil, p.rings())
}

// rings reports whether the next answer is to wake a peer that computes. One answer in half as many as the peer may
// have under way is enough. If some operations of the peer have not begun, as many as it may have are under way, and
// the answer to one of these rings. (PROTOCOL §3.3)
func (p *peer) rings() bool {
	p.answers++
	return p.answers%(maxOutstanding/2) == 0
}

// onAttach answers an ATTACH, or keeps it until the region is exposed. (PROTOCOL §4)
func (l *Layer) onAttach(p *peer, f wire.Attach, name []byte) {
	if r := l.names[string(name)]; r != nil {
		l.attached(p, f.Op, r)
		return
	}
	switch {
	case l.returning:
		p.result(f.Op, wire.StatusClosed, 0)
		return
	case l.attachCount == maxAttaches:
		p.result(f.Op, wire.StatusNoRegion, 0)
		return
	}
	l.attachCount++
	l.attaches[string(name)] = append(l.attaches[string(name)], pendingAttach{p.rank, f.Op})
}

// attached answers an ATTACH of a rank that may access the region.
func (l *Layer) attached(p *peer, op uint32, r *Region) {
	if !r.admits(p.rank) {
		l.Stats.Refused++
		p.result(op, wire.StatusForbidden, 0)
		return
	}
	f := wire.Attached{
		ReadOnly: r.ReadOnly, Op: op, Region: r.ID, Mem: r.Mem, Key: r.Key, Size: uint64(len(r.Bytes)),
	}
	p.q.Push(f.Append(p.q.Head()), nil, p.rings())
}

// check is the target's check of a request: the region, its key, whether it
// may be written, and its bounds.
func (l *Layer) check(p *peer, region uint32, key, off, size uint64, write bool) (*Region, wire.Status) {
	r := l.regions[region]
	s := wire.StatusOK
	switch {
	case r == nil:
		s = l.missing(region)
	case r.Box != nil:
		s = wire.StatusNoRegion
	case !r.admits(p.rank):
		s = wire.StatusForbidden
	case r.Key != key:
		s = wire.StatusKey
	case write && r.ReadOnly:
		s = wire.StatusReadOnly
	case size > uint64(len(r.Bytes)) || off > uint64(len(r.Bytes))-size:
		s = wire.StatusBounds
	case r.Guard != 0 && !p.under(r):
		s = wire.StatusFenced
	}
	if s != wire.StatusOK {
		l.Stats.Refused++
	}
	return r, s
}

// missing returns the status of a region that is not there: closed, if its number has been given out, since numbers are
// not used again.
func (l *Layer) missing(region uint32) wire.Status {
	if region >= 1 && region <= l.region {
		return wire.StatusClosed
	}
	return wire.StatusNoRegion
}

// onPush writes one packet of a PUSH. It checks the bounds of the whole PUSH with each packet, so that a PUSH that
// would leave the region writes nothing at all.
func (l *Layer) onPush(p *peer, f wire.Push, payload []byte) {
	r, s := l.check(p, f.Region, f.Key, f.Off, uint64(len(payload)), true)
	if s == wire.StatusOK && (f.Limit > uint64(len(r.Bytes)) || f.Off+uint64(len(payload)) > f.Limit) {
		s = wire.StatusBounds
	}
	if s == wire.StatusOK {
		s = aligned(f.Code, f.Off, payload)
	}
	if s != wire.StatusOK {
		if p.failedPush != f.Op {
			p.failedPush = f.Op
			p.result(f.Op, s, 0)
		}
		return
	}
	r.hold(f.Code)
	Write(r.Bytes[f.Off:], f.Code, payload)
	r.release(f.Code)
	if f.End {
		p.result(f.Op, wire.StatusOK, 0)
	}
}

// onPut carries out a PUT. A refusal is told by the answer to the next FLUSH. (PROTOCOL §4)
func (l *Layer) onPut(p *peer, f wire.Put, payload []byte) {
	r, s := l.check(p, f.Region, f.Key, f.Off, uint64(len(payload)), true)
	if s == wire.StatusOK {
		s = aligned(f.Code, f.Off, payload)
	}
	if s != wire.StatusOK {
		if p.failedPut == wire.StatusOK {
			p.failedPut = s
		}
		return
	}
	r.hold(f.Code)
	Write(r.Bytes[f.Off:], f.Code, payload)
	r.release(f.Code)
}

// aligned returns StatusMisaligned if bytes are to update words, and are none.
func aligned(code wire.Code, off uint64, b []byte) wire.Status {
	if code != wire.CodeSwap && (off|uint64(len(b)))&7 != 0 {
		return wire.StatusMisaligned
	}
	return wire.StatusOK
}

// onPull answers with the memory as it is when each packet leaves. (PROTOCOL §4)
func (l *Layer) onPull(p *peer, f wire.Pull) {
	r, s := l.check(p, f.Region, f.Key, f.Off, f.N, false)
	if s != wire.StatusOK || f.N == 0 {
		p.result(f.Op, s, 0)
		return
	}
	p.q.Push(wire.Pulled{End: true, Op: f.Op}.Append(p.q.Head()), r.Bytes[f.Off:f.Off+f.N], p.rings())
}

// onAtomic updates eight aligned bytes. (PROTOCOL §4)
func (l *Layer) onAtomic(p *peer, f wire.Atomic) {
	r, s := l.check(p, f.Region, f.Key, f.Off, 8, true)
	if s == wire.StatusOK && f.Off&7 != 0 {
		s = wire.StatusMisaligned
	}
	if s != wire.StatusOK {
		p.result(f.Op, s, 0)
		return
	}
	r.hold(wire.CodeAdd)
	p.result(f.Op, s, Apply(r.Bytes, int(f.Off), f.Code, f.A, f.B))
	r.release(wire.CodeAdd)
}
