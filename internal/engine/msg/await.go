package msg

// startAwait ends an operation that waits for something to receive, or keeps it until there is.
func (p *Port) startAwait(op *Op) {
	if !p.arrived.Empty() && !p.freezing.frozen {
		op.State = Done
		return
	}
	p.awaiting.Push(&op.link, op)
	if len(p.owed) > 0 {
		p.callOwed()
	}
}

// arrival ends the operations that wait for something to receive, if posted receives have left something.
func (p *Port) arrival() {
	for !p.arrived.Empty() && !p.freezing.frozen && !p.awaiting.Empty() {
		p.layer.finish(p.awaiting.Pop(), nil)
	}
}

// Bereaved reports whether the next thing to receive from a peer, or from Any, is the news that a
// peer has gone. Next does not take it, a Recv does.
func (p *Port) Bereaved(from int) bool {
	b := p.first(from)
	return b != nil && b.kind == death
}

// Settled reports whether everything that was sent has been acknowledged. If not, Unasked says whether
// Ask can do something about it.
func (p *Port) Settled() bool { return p.unacked == 0 }

// Unasked reports whether something has been transmitted since an acknowledgement was asked for.
func (p *Port) Unasked() bool { return len(p.unasked) > 0 }

// Ask asks for the acknowledgement of everything transmitted. It is for programs that poll for room, or for the
// acceptance of everything.
func (p *Port) Ask() { p.askAll() }
