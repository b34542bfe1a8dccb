package swarm

import (
	"time"

	"weft/internal/engine/msg"
)

// post posts a receive: into a buffer or for a block, from anyone or from one.
func (r *receiver) post() {
	n := r.p.n
	if r.op = nil; n.silent || r.p.port.Frozen() {
		return
	}
	op := &msg.Op{Kind: msg.Recv, Peer: msg.Any}
	r.op = op
	r.stream = r.p.stream()
	if n.c.world.Chance(0.5) {
		op.Buf = r.into
	}
	if n.c.world.Chance(0.2) {
		if rank, ok := n.someone(); ok {
			op.Peer = rank
			r.p.order.alone[rank] = true
		}
	}
	if op.Peer != msg.Any || n.c.world.Chance(n.c.Cancel) {
		n.later(n.c.world.Between(0, 5*time.Millisecond), func() { r.repost(op) })
	}
	op.Owner = func(*msg.Op) { r.received(op) }
	r.p.port.Start(op)
	switch {
	case op.State == msg.Pending:
	case n.c.Threads > 1: // others may receive what comes next before this one is heard of again
		r.received(op)
	default:
		n.later(0, func() { r.received(op) })
	}
}

// cancel gives the receive up, and reports whether it could.
func (r *receiver) cancel(op *msg.Op) bool {
	if r.op != op || !r.p.port.Cancel(op) {
		return false
	}
	if len(op.Buf) > 0 {
		r.p.n.eng.Detach(op.Buf)
	}
	r.p.gaveUp++
	return true
}

// repost gives a receive up and posts another one.
func (r *receiver) repost(op *msg.Op) {
	if r.cancel(op) {
		r.post()
	}
}

// received takes what a receive has brought.
func (r *receiver) received(op *msg.Op) {
	p := r.p
	n := r.p.n
	switch {
	case op.State == msg.Offered && n.c.world.Chance(n.c.Cancel):
		p.port.Decline(op)
		p.gaveUp++
	case op.State == msg.Offered && n.c.Threads > 1: // a thread hears of it only when it runs
		n.later(n.c.world.Between(0, 200*time.Microsecond), func() { r.fetch(op) })
		return
	case op.State == msg.Offered:
		r.fetch(op)
		return
	case op.Err != nil:
		n.check("Recv", op.Err)
	case op.Block != nil:
		p.verify(r.stream, op.From, op.Block.Data())
		p.lend(op.Block, op.Peer != msg.Any)
	default:
		p.verify(r.stream, op.From, op.Buf[:op.N])
	}
	if n.c.Threads > 1 { // others may have received what came before what is there now
		n.later(0, r.post)
		return
	}
	r.post()
}

// fetch brings a long message that was offered.
func (r *receiver) fetch(op *msg.Op) {
	n := r.p.n
	if op.Buf == nil {
		op.Buf = make([]byte, op.Offer.Total)
	}
	if n.c.Threads > 1 && n.c.world.Chance(n.c.Cancel) {
		n.later(n.c.world.Between(0, 200*time.Microsecond), func() { r.repost(op) })
	}
	if r.p.port.Fetch(op); op.State != msg.Pending {
		n.later(0, func() { r.received(op) })
	}
}

// lend keeps a block for a while, so that the buffer fills.
func (p *port) lend(b *msg.Block, summoned bool) {
	n := p.n
	d := n.c.world.Between(0, 2*n.c.Think)
	if n.c.world.Chance(0.1) && !n.c.calm {
		d = n.c.world.Between(0, 50*time.Millisecond)
	}
	size := b.Size()
	if summoned {
		size = 0 // it may have come on top of a full buffer
	}
	p.loans += size
	p.lent++
	n.later(d, func() {
		p.loans -= size
		p.lent--
		p.port.Release(b)
	})
}
