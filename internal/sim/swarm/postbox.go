package swarm

import (
	"encoding/binary"
	"errors"
	"slices"
	"time"

	"weft/internal/engine/link"
	"weft/internal/engine/rma"
	"weft/internal/engine/wire"
	"weft/internal/mailbox"
	"weft/internal/mem"
)

// A postbox is the mailbox of one incarnation, small enough to be full often. The
// checker knows what every rank has begun to send to it, and what came of that: what
// is known to have arrived arrives once, in the order of its sender, and stays as it
// is until it is released; nothing else does but what was given up.
type postbox struct {
	owner  incarnation
	key    uint64
	box    *mailbox.Box
	reader *mailbox.Reader
	region *rma.Region
	base   []int // where each ring lies; as many bytes again are free behind it
	moving int   // the ring that is shut, to be placed anew, or -1
	ending bool  // it will go away
	flows  map[incarnation]*posted
	held   []heldRecord
	taken  int
	beat   collector
}

// posted is what one incarnation sends to a postbox.
type posted struct {
	state []fate // by number, from 0
	next  uint64 // the least number that may still arrive
	part  uint64 // the number of the message of which packets arrive
	got   int
}

type fate uint8

const (
	onItsWay fate = iota
	arrived       // its sender knows that it has
	refused
	inDoubt // it was given up, or its sender's peer was gone
)

// A heldRecord is on loan.
type heldRecord struct {
	rec  mailbox.Record
	from incarnation
}

const (
	postboxName = "postbox"
	boxRings    = 3
	boxRing     = 2048 // bytes that a ring may have
)

// post sizes: what fits a record, a line, a packet, and many.
var postSizes = [...]int{0, 8, 40, 41, 200, 700, 1024, 2048, 2049}

// openPostbox makes this node's mailbox.
func (n *node) openPostbox() {
	rand := n.c.world.Rand
	g := mailbox.Geometry{Ranks: n.c.Nodes, Lines: n.c.Nodes + 1, Rings: boxRings, Slots: 16, Room: boxRings * boxRing}
	bytes := mem.Aligned(g.Size())
	box, err := mailbox.New(bytes, g)
	n.check("mailbox", err)
	b := &postbox{owner: n.incarnation, box: box, reader: mailbox.NewReader(box), flows: map[incarnation]*posted{}, moving: -1}
	for i := range boxRings {
		box.Shut(i)
		b.base = append(b.base, i*boxRing)
		box.Place(i, b.base[i], 64*(1+rand.IntN(boxRing/64)))
	}
	for rank := range n.c.Nodes {
		box.SetRing(rank, rand.IntN(boxRings))
	}
	b.region, err = n.eng.RMA.ExposeMailbox(postboxName, box, bytes, 0, n.c.Stall)
	n.check("ExposeMailbox", err)
	b.key = b.region.Key
	n.c.postboxes = append(n.c.postboxes, b)
	n.postbox = b
	b.beat.n = n
	n.collectLater()
}

// A collector is when the owner of a postbox looks into it.
type collector struct{ n *node }

func (n *node) collectLater() {
	n.c.world.At(n.c.world.Now().Add(n.c.world.Between(0, 4*n.c.Think)), &n.postbox.beat)
}

func (b *collector) Act() {
	n := b.n
	if n.off {
		return
	}
	if !n.m.Paused() && !n.silent {
		n.collect()
		n.flush()
	}
	n.collectLater()
}

// collect takes what has arrived, releases some of what it holds, in any order, and
// changes the rings now and then.
func (n *node) collect() {
	b, rand := n.postbox, n.c.world
	var rec mailbox.Record
	for k := rand.Rand.IntN(4); k >= 0 && len(b.held) < 24 && b.reader.Take(&rec); k-- {
		rec.Data = slices.Clone(rec.Data)
		b.reader.Done()
		n.arrival(b, &rec)
	}
	for k := rand.Rand.IntN(4); k >= 0 && len(b.held) > 0; k-- {
		b.release(n, rand.Rand.IntN(len(b.held)))
	}
	switch {
	case b.moving >= 0:
		if b.box.Drained(b.moving) {
			b.reader.Placed(b.moving)
			b.box.Place(b.moving, b.base[b.moving], b.size(n))
			b.moving = -1
		}
	case n.left > 0 && rand.Chance(0.02):
		b.moving = rand.Rand.IntN(boxRings)
		b.ending = b.moving > 0 && rand.Chance(0.3)
		for rank := 0; b.ending && rank < n.c.Nodes; rank++ {
			if b.box.RingOf(rank) == b.moving {
				b.box.SetRing(rank, 0)
			}
		}
		b.box.Shut(b.moving)
	case n.left > 0 && rand.Chance(0.05):
		ring := rand.Rand.IntN(boxRings+1) - 1 // NoRing among them
		if ring < 0 || b.has(ring) {
			b.box.SetRing(n.c.anyone(), ring)
		}
	}
	if n.mourning() {
		b.reader.Recover(func(rank, _ int, _ bool) bool { return n.eng.Gone(rank) != nil }, n.eng.RMA.Open(b.region))
	}
	if b.box.Wanted() {
		n.eng.Room(n.m.Now(), b.region)
	}
}

// size draws the next size of the ring that moves; 0 if it goes away.
func (b *postbox) size(n *node) int {
	if b.ending {
		b.ending = false
		return 0
	}
	return 64 * (1 + n.c.world.Rand.IntN(boxRing/64))
}

func (b *postbox) has(ring int) bool {
	_, size := b.box.Where(ring)
	return size > 0
}

// mourning reports whether a sender that is gone has still a line.
func (n *node) mourning() (any bool) {
	n.postbox.box.Senders(func(rank int) { any = any || n.eng.Gone(rank) != nil })
	return any
}

// collected reports whether there is nothing left to be done for a postbox.
func (n *node) collected() bool {
	b := n.postbox
	return b == nil || len(b.held) == 0 && b.moving < 0 && !b.reader.Ready() && !n.mourning()
}

// release looks at a record on loan for the last time.
func (b *postbox) release(n *node, i int) {
	h := b.held[i]
	b.held = append(b.held[:i], b.held[i+1:]...)
	b.judge(n, &h, "when it was released")
	if !h.rec.InRecord {
		b.reader.Release(h.rec.Extent)
	}
}

// letter returns a byte of a message.
func letter(from incarnation, number uint64, i int) byte {
	h := (uint64(from.rank)<<48 | uint64(from.boot)<<40 | number<<16 | uint64(i/8)) * 0x9e3779b97f4a7c15
	return byte(h >> (8 * (i % 8)))
}

func compose(from incarnation, number uint64, size int) []byte {
	b := make([]byte, size)
	for i := range b {
		b[i] = letter(from, number, i)
	}
	return b
}

// judge compares the bytes of a record with what was sent.
func (b *postbox) judge(n *node, h *heldRecord, when string) {
	first, second := b.reader.Bytes(&h.rec)
	i := h.rec.Off
	for _, part := range [][]byte{first, second} {
		for _, c := range part {
			if number := uint64(uint32(h.rec.Tag)); c != letter(h.from, number, i) {
				n.c.fail("mailbox", "%s: byte %d of message %d of rank %d in the mailbox of rank %d is %#x", when, i, number, h.from.rank, b.owner.rank, c)
			}
			i++
		}
	}
}

// arrival checks that a record may come now.
func (n *node) arrival(b *postbox, rec *mailbox.Record) {
	from := incarnation{rec.From, uint8(rec.Tag >> 32)}
	number := uint64(uint32(rec.Tag))
	p := b.flows[from]
	if p == nil || number >= uint64(len(p.state)) || p.state[number] == refused && rec.Last { // packets may have come before
		n.c.fail("mailbox", "message %d of rank %d, which was not sent, or was refused, is in the mailbox of rank %d", number, rec.From, b.owner.rank)
	}
	if number < p.next {
		n.c.fail("mailbox", "message %d of rank %d comes to rank %d, and number %d is due: again, or out of order", number, rec.From, b.owner.rank, p.next)
	}
	if rec.Off == 0 {
		p.part, p.got = number, 0
	}
	if p.part != number || p.got != rec.Off {
		n.c.fail("mailbox", "bytes %d on of message %d of rank %d come to rank %d after %d of message %d", rec.Off, number, rec.From, b.owner.rank, p.got, p.part)
	}
	p.got += rec.Len
	if rec.Last != (p.got == rec.Total) {
		n.c.fail("mailbox", "message %d of rank %d ends at rank %d with %d of %d bytes", number, rec.From, b.owner.rank, p.got, rec.Total)
	}
	if rec.Last {
		for i := p.next; i < number; i++ {
			if p.state[i] == arrived {
				n.c.fail("mailbox", "message %d of rank %d has arrived at rank %d, and number %d, sent before, had not", number, rec.From, b.owner.rank, i)
			}
		}
		p.next = number + 1
		b.taken++
	}
	h := heldRecord{*rec, from}
	b.judge(n, &h, "when it arrived")
	b.held = append(b.held, h)
}

// A poster is what a node knows of the postbox of a peer.
type poster struct {
	state  attachment
	found  rma.Found
	b      *postbox
	line   *mailbox.Writer // on a reliable network, where memory is mapped
	onWay  int             // messages in packets
	unsure bool            // one was given up
	busy   bool            // a message is being written step by step
}

// post sends a message to the postbox of a peer.
func (n *node) post(rank int) {
	p := &n.posters[rank]
	switch p.state {
	case attaching:
		return
	case unknown:
		n.attachPostbox(rank, p)
		return
	}
	flow := p.b.flows[n.incarnation]
	if flow == nil {
		flow = &posted{}
		p.b.flows[n.incarnation] = flow
	}
	rand := n.c.world.Rand
	number := uint64(len(flow.state))
	size := postSizes[rand.IntN(len(postSizes))]
	flow.state = append(flow.state, onItsWay)
	mode := mailbox.Mode(rand.IntN(8))
	if mode > mailbox.PerPacket {
		mode = mailbox.Auto
	}
	entry := mailbox.NoRing
	if rand.IntN(8) == 0 {
		entry = rand.IntN(boxRings + 1) // one too many
	}
	m := &letterOut{n: n, p: p, rank: rank, flow: flow, number: number, entry: entry, mode: mode,
		tag: uint64(n.boot)<<32 | number, data: compose(n.incarnation, number, size)}
	if p.line != nil && p.onWay == 0 && !p.unsure && !p.busy && n.eng.Gone(rank) == nil && rand.IntN(4) > 0 {
		m.write()
	} else if !p.busy {
		m.send(0)
	} else {
		flow.state = flow.state[:number]
	}
}

// A letterOut is a message on its way out.
type letterOut struct {
	n      *node
	p      *poster
	rank   int
	flow   *posted
	number uint64
	entry  int
	mode   mailbox.Mode
	tag    uint64
	data   []byte
	a      mailbox.Arrival
}

func (m *letterOut) ends(f fate) { m.flow.state[m.number] = f }

// write writes to mapped memory, step by step: the node may be killed at any.
func (m *letterOut) write() {
	m.p.line.Lock()
	m.p.busy = true
	m.a = mailbox.Arrival{Tag: m.tag, Total: len(m.data)}
	if o := m.p.line.Begin(&m.a, m.entry, m.mode); o != mailbox.Done {
		m.stop(o)
		return
	}
	m.soon()
}

func (m *letterOut) soon() { m.n.later(m.n.c.world.Between(0, 100*time.Microsecond), m.add) }

// add writes the next packet, or all.
func (m *letterOut) add() {
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

// stop ends writing; what found no room goes in packets.
func (m *letterOut) stop(o mailbox.Outcome) {
	m.p.line.Unlock()
	m.p.busy = false
	switch o {
	case mailbox.Done:
		m.ends(arrived)
	case mailbox.Full:
		m.send(m.a.Got)
	default:
		m.ends(refused)
	}
}

// send sends in packets, from a byte on.
func (m *letterOut) send(from int) {
	op := &rma.Op{Kind: rma.IPush, Peer: m.rank, Region: m.p.found.Region, Key: m.p.found.Key, Off: uint64(from), Buf: m.data, A: m.tag, Mode: uint8(m.mode), Entry: wire.NoEntry}
	if m.entry != mailbox.NoRing {
		op.Entry = uint16(m.entry)
	}
	m.p.onWay++
	m.n.run(op, func() {
		m.p.onWay--
		switch {
		case op.Err == nil:
			m.ends(arrived)
			m.p.unsure = false
		case errors.Is(op.Err, link.ErrPeer):
			m.ends(inDoubt)
			m.p.unsure = true
		case errors.Is(op.Err, rma.ErrNoEntry), errors.Is(op.Err, link.ErrTooLong), errors.Is(op.Err, rma.ErrShared):
			if m.ends(refused); from > 0 {
				m.ends(inDoubt)
			}
		default:
			m.n.check("IPush", op.Err)
		}
	}, func() {
		m.p.onWay--
		m.p.unsure = true
		m.ends(inDoubt)
	})
}

func (n *node) attachPostbox(rank int, p *poster) {
	p.state = attaching
	op := &rma.Op{Kind: rma.Attach, Peer: rank, Name: postboxName}
	n.run(op, func() {
		p.state = unknown
		if !n.check("Attach", op.Err) {
			return
		}
		for _, b := range n.c.postboxes {
			if b.key == op.Found.Key {
				p.state, p.found, p.b = attached, op.Found, b
			}
		}
		if p.state == attached && n.c.Reliable && rank != n.rank {
			p.line, _ = p.b.box.Join(n.rank, 1)
		}
	}, func() { p.state = unknown })
}

// forgeries: what must be refused, and leave no trace.
func (n *node) forge(rank int) {
	p := &n.posters[rank]
	if p.state != attached {
		return
	}
	op := &rma.Op{Kind: rma.Push, Peer: rank, Region: p.found.Region, Key: p.found.Key, Buf: make([]byte, 64)}
	binary.LittleEndian.PutUint64(op.Buf, ^uint64(0))
	want := rma.ErrNoRegion
	if n.c.world.Chance(0.5) {
		op.Kind, op.Key, op.Entry, want = rma.IPush, op.Key+1, wire.NoEntry, rma.ErrKey
	}
	n.run(op, func() {
		if !errors.Is(op.Err, want) && !errors.Is(op.Err, link.ErrPeer) {
			n.c.fail("refusal", "what must end with %v at the mailbox of rank %d ended with %v", want, rank, op.Err)
		}
	}, func() {})
}

// allCollected checks a postbox when all is quiet.
func (b *postbox) allCollected(n *node) {
	for rank := range n.c.Nodes {
		for boot := uint8(1); boot <= n.c.boots[rank]; boot++ {
			from := incarnation{rank, boot}
			p := b.flows[from]
			if p == nil || n.c.deaths[duo{n.incarnation, from}] {
				continue
			}
			for i := p.next; i < uint64(len(p.state)); i++ {
				if p.state[i] == arrived {
					n.c.fail("mailbox", "message %d of rank %d should have arrived in the mailbox of rank %d", i, rank, b.owner.rank)
				}
			}
		}
	}
	promises, bytes := b.box.Reserved()
	open := 0
	for _, a := range n.eng.RMA.Open(b.region) {
		if a.Whole() {
			open++
		}
	}
	if promises != open {
		n.c.fail("leak", "%d records of the mailbox of rank %d are promised, and %d messages are being written", promises, n.rank, open)
	}
	for i, k := range bytes {
		if k != 0 && open == 0 {
			n.c.fail("leak", "%d bytes of ring %d of the mailbox of rank %d are reserved, and nothing is there", k, i, n.rank)
		}
	}
}
