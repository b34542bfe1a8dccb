package rma

import (
	"weft/failure"
	"weft/internal/engine/wire"
	"weft/internal/mem"
)

// Start begins an operation. When it returns, op may already be Done; else it
// belongs to the engine until Finished returns it. The caller has checked
// bounds and alignment as far as it knows the region; the target checks again.
func (l *Layer) Start(op *Op) {
	op.Done = false
	op.Err = nil
	op.Value = 0
	op.begun = false
	op.got = 0
	if op.Kind == Await {
		if r := l.regions[op.Region]; r == nil || r.Box == nil {
			op.Done = true
			op.Err = failure.ErrClosed
		} else if op.Done = r.Box.Ready(); !op.Done {
			l.awaiting.Push(&op.link, op)
		}
		return
	}
	if err := l.gone[op.Peer]; err != nil {
		op.Done = true
		op.Err = err
		return
	}
	if err := l.returned[op.Peer]; err != nil && op.Kind == IPush {
		op.Done = true
		op.Err = err
		return
	}
	if (op.Kind == Push || op.Kind == Pull) && len(op.Buf) == 0 {
		op.Done = true
		return
	}
	p := l.peer(op.Peer)
	if p.outstanding == maxOutstanding || !p.waiting.Empty() {
		op.turn = p.q.Wait()
		p.waiting.Push(&op.link, op)
		return
	}
	l.begin(p, op)
}

// begin sends the request.
func (l *Layer) begin(p *peer, op *Op) {
	op.begun = true
	p.outstanding++
	p.q.Counts.Sent.Accesses++
	l.ops.add(op)
	p.declare(op.Lock, op.Epoch)
	q := p.q
	switch op.Kind {
	case Attach:
		q.Push(wire.Attach{Op: op.id}.Append(q.Head()), []byte(op.Name), true)
	case Push:
		f := wire.Push{
			End: true, Code: op.Code, Op: op.id, Region: op.Region, Key: op.Key, Off: op.Off,
			Limit: op.Off + uint64(len(op.Buf)),
		}
		q.Push(f.Append(q.Head()), op.Buf, true)
	case Pull:
		f := wire.Pull{Op: op.id, Region: op.Region, Key: op.Key, Off: op.Off, N: uint64(len(op.Buf))}
		q.Push(f.Append(q.Head()), nil, true)
	case Atomic:
		f := wire.Atomic{Code: op.Code, Op: op.id, Region: op.Region, Key: op.Key, Off: op.Off, A: op.A, B: op.B}
		q.Push(f.Append(q.Head()), nil, true)
	case IPush:
		p.ipush(op)
	case Flush:
		q.Push(wire.Flush{Op: op.id}.Append(q.Head()), nil, true)
	}
}

// Put writes a few bytes, which are copied, or updates a few words, by as few PUTs; it has no answer of its own. The
// next Flush reports if it was refused. Of an operation it takes Peer, Region, Key, Off, Buf, Code, Lock and Epoch.
func (l *Layer) Put(op *Op) error {
	if err := l.gone[op.Peer]; err != nil {
		return err
	}
	p := l.peer(op.Peer)
	p.declare(op.Lock, op.Epoch)
	q := p.q
	q.Counts.Sent.Accesses++
	for off := 0; off < len(op.Buf); off += wire.MaxPut {
		b := op.Buf[off:min(off+wire.MaxPut, len(op.Buf))]
		head := wire.Put{Code: op.Code, Region: op.Region, Key: op.Key, Off: op.Off + uint64(off)}.Append(q.Head())
		switch {
		case len(head)+len(b) <= wire.MaxHead:
			q.Push(append(head, b...), nil, true)
		case !q.Direct(head, b, true):
			q.Push(head, p.copied(b), true)
		}
	}
	return nil
}

// copied returns a copy of what a PUT writes, for the queue. The memory is used again once nothing waits there: what is
// so short leaves the queue as a copy, or has been sent. Frames that wait longer keep it from the garbage collector.
func (p *peer) copied(b []byte) []byte {
	if p.q.Len() == 0 {
		p.copies = p.copies[:0]
	}
	if len(b) > cap(p.copies)-len(p.copies) {
		p.copies = make([]byte, 0, 8*wire.MaxPut)
	}
	at := len(p.copies)
	p.copies = append(p.copies, b...)
	return p.copies[at:]
}

// Cancel takes an operation back from the engine. It reports ok if the
// operation was not Done, and begun if the target may have executed it, or
// part of it. The caller must then also detach op.Buf from the link.
func (l *Layer) Cancel(op *Op) (ok, begun bool) {
	if op.Done {
		return false, false
	}
	op.Done = true
	if op.Kind == Await {
		l.awaiting.Remove(&op.link)
		return true, false
	}
	p := l.peer(op.Peer)
	if op.begun {
		if op.Kind == IPush {
			p.answeredIPush(op)
			p.q.Drop(wire.TypeIPush, op.id)
		}
		l.ops.remove(op)
		p.outstanding--
		p.q.Drop(wire.TypePush, op.id)
		l.next(p)
		return true, true
	}
	p.waiting.Remove(&op.link)
	p.entered()
	return true, false
}

// finish ends a begun operation that the caller waits for.
func (l *Layer) finish(op *Op, err error) {
	if p := l.peers[op.Peer]; op.Kind == IPush {
		p.answeredIPush(op)
	}
	l.ops.remove(op)
	op.Done = true
	op.Err = err
	l.done.Push(&op.link, op)
}

// answered ends a begun operation and lets the next one begin.
func (l *Layer) answered(op *Op, err error) {
	l.finish(op, err)
	p := l.peer(op.Peer)
	p.outstanding--
	l.next(p)
}

// next begins operations that had to wait, as far as may be under way.
func (l *Layer) next(p *peer) {
	if p.waiting.Empty() {
		return
	}
	for !p.waiting.Empty() && p.outstanding < maxOutstanding {
		l.begin(p, p.waiting.Pop())
	}
	p.entered()
}

// entered lets messages go that had to wait behind operations.
func (p *peer) entered() {
	if op := p.waiting.First(); op != nil {
		p.q.Entered(op.turn - 1)
	} else {
		p.q.Entered(p.q.Last())
	}
}

// pending returns the operation that an answer names.
func (l *Layer) pending(from int, id uint32) *Op {
	op := l.ops.get(id)
	if op == nil || op.Peer != from {
		l.Stats.Dropped++
		return nil
	}
	return op
}

// onAttached ends an Attach.
func (l *Layer) onAttached(from int, f wire.Attached) {
	op := l.pending(from, f.Op)
	if op == nil || op.Kind != Attach {
		return
	}
	op.Found = Found{Region: f.Region, Key: f.Key, Size: int(f.Size), Mem: f.Mem, ReadOnly: f.ReadOnly}
	l.answered(op, refusal(op, f.Status))
}

// onPulled takes bytes of a Pull, which come in order.
func (l *Layer) onPulled(from int, f wire.Pulled, payload []byte) {
	op := l.pending(from, f.Op)
	if op == nil || op.Kind != Pull {
		return
	}
	if f.Off != uint64(op.got) || len(payload) > len(op.Buf)-op.got {
		l.Stats.Dropped++
		return
	}
	mem.Copy(op.Buf[op.got:], payload)
	op.got += len(payload)
	if op.got == len(op.Buf) {
		l.answered(op, nil)
	}
}

// onResult ends an operation that has no other answer, or was refused.
func (l *Layer) onResult(from int, f wire.Result) {
	op := l.pending(from, f.Op)
	if op == nil {
		return
	}
	if f.Status == wire.StatusOK && (op.Kind == Pull || op.Kind == Attach) {
		l.Stats.Dropped++ // it is answered otherwise: what was asked for has not come
		return
	}
	if f.Status != wire.StatusOK {
		l.peer(from).q.Drop(wire.TypePush, op.id)
		l.peer(from).q.Drop(wire.TypeIPush, op.id)
	}
	op.Value = f.Value
	l.answered(op, refusal(op, f.Status))
}
