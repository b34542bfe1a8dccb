package swarm

import (
	"encoding/binary"
	"errors"
	"time"

	"weft/failure"
	"weft/internal/engine/rma"
	"weft/internal/engine/wire"
	"weft/internal/mailbox"
)

// A mailboxPeer is what a node knows of the mailbox of a peer.
type mailboxPeer struct {
	state  attachment
	found  rma.Found
	b      *mailboxModel
	line   *mailbox.Writer // on a reliable network, where memory is mapped
	onWay  int             // messages in packets
	unsure bool            // one was given up
	busy   bool            // a message is being written step by step
}

// sendMail sends a message to the mailbox of a peer.
func (n *node) sendMail(rank int) {
	p := &n.mailboxPeers[rank]
	switch p.state {
	case attaching:
		return
	case unknown:
		n.attachMailbox(rank, p)
		return
	}
	flow := p.b.flows[n.incarnation]
	if flow == nil {
		flow = &mailboxFlow{}
		p.b.flows[n.incarnation] = flow
	}
	rand := n.c.world.Rand
	number := uint64(len(flow.status))
	size := mailSizes[rand.IntN(len(mailSizes))]
	flow.status = append(flow.status, inFlight)
	mode := mailbox.Mode(rand.IntN(8))
	if mode > mailbox.PerPacket {
		mode = mailbox.Auto
	}
	entry := mailbox.NoRing
	if rand.IntN(8) == 0 {
		entry = rand.IntN(boxRings + 1) // one too many
	}
	m := &mailSend{n: n, p: p, rank: rank, flow: flow, number: number, entry: entry, mode: mode,
		tag: uint64(n.boot)<<32 | number, data: payload(n.incarnation, number, size)}
	if p.line != nil && p.onWay == 0 && !p.unsure && !p.busy && n.eng.Gone(rank) == nil && rand.IntN(4) > 0 {
		m.write()
	} else if !p.busy {
		m.send(0)
	} else {
		flow.status = flow.status[:number]
	}
}

// A mailSend is a message on its way out.
type mailSend struct {
	n      *node
	p      *mailboxPeer
	rank   int
	flow   *mailboxFlow
	number uint64
	entry  int
	mode   mailbox.Mode
	tag    uint64
	data   []byte
	a      mailbox.Arrival
}

func (m *mailSend) settle(f sendStatus) { m.flow.status[m.number] = f }

// write writes to mapped memory, step by step: the node may be killed at any step.
func (m *mailSend) write() {
	m.p.line.Lock()
	m.p.busy = true
	m.a = mailbox.Arrival{Tag: m.tag, Total: len(m.data)}
	if o := m.p.line.Begin(&m.a, m.entry, m.mode); o != mailbox.Done {
		m.stop(o)
		return
	}
	m.soon()
}

func (m *mailSend) soon() { m.n.later(m.n.c.world.Between(0, 100*time.Microsecond), m.add) }

// add writes the next packet, or all.
func (m *mailSend) add() {
	size := len(m.data) - m.a.Got
	if m.a.InPackets() && m.a.Total > mailbox.Inline {
		size = min(size, 1+m.n.c.world.Rand.IntN(600))
	}
	o := m.p.line.Add(&m.a, m.data[m.a.Got:m.a.Got+size])
	if o == mailbox.Done && m.a.Got < m.a.Total {
		m.soon()
		return
	}
	m.stop(o)
}

// stop ends writing. What found no room is sent in packets.
func (m *mailSend) stop(o mailbox.Outcome) {
	m.p.line.Unlock()
	m.p.busy = false
	switch o {
	case mailbox.Done:
		m.settle(delivered)
	case mailbox.Full:
		m.send(m.a.Got)
	default:
		m.settle(refused)
	}
}

// send sends in packets, from a byte on.
func (m *mailSend) send(from int) {
	op := &rma.Op{Kind: rma.IPush, Peer: m.rank, Region: m.p.found.Region, Key: m.p.found.Key, Off: uint64(from),
		Buf: m.data, A: m.tag, Mode: uint8(m.mode), Entry: wire.NoEntry}
	if m.entry != mailbox.NoRing {
		op.Entry = uint16(m.entry)
	}
	m.p.onWay++
	m.n.run(op, func() {
		m.p.onWay--
		switch {
		case op.Err == nil:
			m.settle(delivered)
			m.p.unsure = false
		case errors.Is(op.Err, failure.ErrPeer):
			m.settle(uncertain)
			m.p.unsure = true
		case errors.Is(op.Err, failure.ErrNoEntry), errors.Is(op.Err, failure.ErrTooLong),
			errors.Is(op.Err, failure.ErrShared):
			if m.settle(refused); from > 0 {
				m.settle(uncertain)
			}
		default:
			m.n.check("IPush", op.Err)
		}
	}, func() {
		m.p.onWay--
		m.p.unsure = true
		m.settle(uncertain)
	})
}

// attachMailbox gets the right to send to a mailbox. Its key tells which incarnation of the rank has answered. On a
// reliable network ranks count as sharing memory: then the sender also joins the mailbox to write its records
// directly.
func (n *node) attachMailbox(rank int, p *mailboxPeer) {
	p.state = attaching
	op := &rma.Op{Kind: rma.Attach, Peer: rank, Name: mailboxName}
	n.run(op, func() {
		p.state = unknown
		if !n.check("Attach", op.Err) {
			return
		}
		for _, b := range n.c.mailboxes {
			if b.key == op.Found.Key {
				p.state = attached
				p.found = op.Found
				p.b = b
			}
		}
		if p.state == attached && n.c.Reliable && rank != n.rank {
			p.line, _ = p.b.box.Join(n.rank, int(n.boot))
		}
	}, func() { p.state = unknown })
}

// forge sends what must be refused, and change nothing.
func (n *node) forge(rank int) {
	p := &n.mailboxPeers[rank]
	if p.state != attached {
		return
	}
	op := &rma.Op{Kind: rma.Push, Peer: rank, Region: p.found.Region, Key: p.found.Key, Buf: make([]byte, 64)}
	binary.LittleEndian.PutUint64(op.Buf, ^uint64(0))
	want := failure.ErrNoRegion
	if n.c.world.Chance(0.5) {
		op.Kind = rma.IPush
		op.Key = op.Key + 1
		op.Entry = wire.NoEntry
		want = failure.ErrKey
	}
	n.run(op, func() {
		if !errors.Is(op.Err, want) && !errors.Is(op.Err, failure.ErrPeer) {
			n.c.fail("refusal", "what must end with %v at the mailbox of rank %d ended with %v", want, rank, op.Err)
		}
	}, func() {})
}
