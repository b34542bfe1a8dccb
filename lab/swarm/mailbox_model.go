package swarm

import (
	"slices"

	"weft/internal/engine/rma"
	"weft/internal/mailbox"
	"weft/internal/mem"
)

// A mailboxModel is the mailbox of one incarnation, small enough to be full often, with the
// state that it must have. The model knows the status of every message that was sent to it.
// A delivered message arrives once, in the order of its sender, and does not change until it
// is released. Of the others, only messages whose status is uncertain may arrive.
type mailboxModel struct {
	owner    incarnation
	key      uint64
	box      *mailbox.Box
	reader   *mailbox.Reader
	region   *rma.Region
	base     []int // where each ring lies; as many bytes again are free behind it
	moving   int   // the ring that is shut, to be placed anew, or -1
	ending   bool  // it will go away
	flows    map[incarnation]*mailboxFlow
	held     []heldRecord
	taken    int
	nextPoll mailboxPoll
}

// A mailboxFlow is the messages of one sender to a mailbox.
type mailboxFlow struct {
	status []sendStatus // by number, from 0
	next   uint64       // the least number that may still arrive
	part   uint64       // the number of the message of which packets arrive
	got    int
}

// A sendStatus is what the model knows of a message: what may still happen to it follows from it.
type sendStatus uint8

const (
	inFlight  sendStatus = iota
	delivered            // its sender knows that it has arrived
	refused
	uncertain // it was given up, or the receiver was gone for the sender
)

// A heldRecord is on loan.
type heldRecord struct {
	rec  mailbox.Record
	from incarnation
}

const (
	mailboxName = "mailbox"
	boxRings    = 3
	boxRing     = 2048 // bytes that a ring may have
)

// mailSizes are the sizes of messages: some fit a record, a cache line or a packet, others do not.
var mailSizes = [...]int{0, 8, 40, 41, 200, 700, 1024, 2048, 2049}

// openMailbox exposes this node's mailbox.
func (n *node) openMailbox() {
	rand := n.c.world.Rand
	g := mailbox.Geometry{Ranks: n.c.Nodes, Lines: n.c.Nodes + 1, Rings: boxRings, Slots: 16, Room: boxRings * boxRing}
	bytes := mem.Aligned(g.Size())
	box, err := mailbox.New(bytes, g)
	n.check("mailbox", err)
	b := &mailboxModel{owner: n.incarnation, box: box, reader: mailbox.NewReader(box),
		flows: map[incarnation]*mailboxFlow{}, moving: -1}
	for i := range boxRings {
		box.Shut(i)
		b.base = append(b.base, i*boxRing)
		box.Place(i, b.base[i], 64*(1+rand.IntN(boxRing/64)))
	}
	for rank := range n.c.Nodes {
		box.SetRing(rank, rand.IntN(boxRings))
	}
	b.region, err = n.eng.RMA.ExposeMailbox(mailboxName, box, bytes, 0, n.c.Stall)
	n.check("ExposeMailbox", err)
	b.key = b.region.Key
	n.c.mailboxes = append(n.c.mailboxes, b)
	n.mailbox = b
	b.nextPoll.n = n
	n.pollLater()
}

// A mailboxPoll is the event at which the owner of a mailbox polls it.
type mailboxPoll struct{ n *node }

func (n *node) pollLater() {
	n.c.world.At(n.c.world.Now().Add(n.c.world.Between(0, 4*n.c.Think)), &n.mailbox.nextPoll)
}

// Act lets the owner of a mailbox take what has arrived. A paused or silent node does not.
func (b *mailboxPoll) Act() {
	n := b.n
	if n.off {
		return
	}
	if !n.m.Paused() && !n.silent {
		n.poll()
		n.flush()
	}
	n.pollLater()
}

// poll takes what has arrived, releases some of what it holds, in any order, and
// changes the rings now and then.
func (n *node) poll() {
	b := n.mailbox
	rand := n.c.world
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
	if n.deadSenders() {
		b.reader.Recover(n.died, n.eng.RMA.Open(b.region))
	}
	if b.box.Wanted() {
		n.eng.Room(n.m.Now(), b.region)
	}
}

// size draws the next size of the ring that moves; 0 if it goes away.
func (b *mailboxModel) size(n *node) int {
	if b.ending {
		b.ending = false
		return 0
	}
	return 64 * (1 + n.c.world.Rand.IntN(boxRing/64))
}

// has reports whether a ring has memory.
func (b *mailboxModel) has(ring int) bool {
	_, size := b.box.Where(ring)
	return size > 0
}

// died reports whether an incarnation of a rank will never write again. A rank that was only paused, and taken for dead
// while it wrote, may (PROTOCOL §10.7).
func (n *node) died(rank, boot int, busy bool) bool {
	sender := n.c.nodes[rank]
	return n.eng.Gone(rank) != nil && (!busy || sender == nil || int(sender.boot) != boot)
}

// deadSenders reports whether a sender that is gone has still a line.
func (n *node) deadSenders() (any bool) {
	n.mailbox.box.Senders(func(rank int) { any = any || n.eng.Gone(rank) != nil })
	return any
}

// mailboxDone reports whether there is nothing left to be done for the node's mailbox.
func (n *node) mailboxDone() bool {
	b := n.mailbox
	return b == nil || len(b.held) == 0 && b.moving < 0 && !b.reader.Ready() && !n.deadSenders()
}

// release checks a record on loan for the last time, and releases it.
func (b *mailboxModel) release(n *node, i int) {
	h := b.held[i]
	b.held = append(b.held[:i], b.held[i+1:]...)
	b.judge(n, &h, "when it was released")
	if !h.rec.InRecord {
		b.reader.Release(h.rec.Extent)
	}
}

// payloadByte returns a byte of a message.
func payloadByte(from incarnation, number uint64, i int) byte {
	h := (uint64(from.rank)<<48 | uint64(from.boot)<<40 | number<<16 | uint64(i/8)) * 0x9e3779b97f4a7c15
	return byte(h >> (8 * (i % 8)))
}

// payload returns the bytes of a message. They follow from its sender, its number and the place of each byte, so a
// receiver can check them without the message.
func payload(from incarnation, number uint64, size int) []byte {
	b := make([]byte, size)
	for i := range b {
		b[i] = payloadByte(from, number, i)
	}
	return b
}

// judge compares the bytes of a record with what was sent.
func (b *mailboxModel) judge(n *node, h *heldRecord, when string) {
	first, second := b.reader.Bytes(&h.rec)
	i := h.rec.Off
	for _, part := range [][]byte{first, second} {
		for _, c := range part {
			if number := uint64(uint32(h.rec.Tag)); c != payloadByte(h.from, number, i) {
				n.c.fail("mailbox", "%s: byte %d of message %d of rank %d in the mailbox of rank %d is %#x", when, i, number,
					h.from.rank, b.owner.rank, c)
			}
			i++
		}
	}
}

// arrival checks that a record may come now.
func (n *node) arrival(b *mailboxModel, rec *mailbox.Record) {
	from := incarnation{rec.From, uint8(rec.Tag >> 32)}
	number := uint64(uint32(rec.Tag))
	p := b.flows[from]
	// packets may have come before
	if p == nil || number >= uint64(len(p.status)) || p.status[number] == refused && rec.Last {
		n.c.fail("mailbox", "message %d of rank %d, which was not sent, or was refused, is in the mailbox of rank %d",
			number, rec.From, b.owner.rank)
	}
	if number < p.next {
		n.c.fail("mailbox", "message %d of rank %d comes to rank %d, and number %d is due: again, or out of order", number,
			rec.From, b.owner.rank, p.next)
	}
	if rec.Off == 0 {
		p.part = number
		p.got = 0
	}
	if p.part != number || p.got != rec.Off {
		n.c.fail("mailbox", "bytes %d on of message %d of rank %d come to rank %d after %d of message %d", rec.Off, number,
			rec.From, b.owner.rank, p.got, p.part)
	}
	p.got += rec.Len
	if rec.Last != (p.got == rec.Total) {
		n.c.fail("mailbox", "message %d of rank %d ends at rank %d with %d of %d bytes", number, rec.From, b.owner.rank,
			p.got, rec.Total)
	}
	if rec.Last {
		for i := p.next; i < number; i++ {
			if p.status[i] == delivered {
				n.c.fail("mailbox", "message %d of rank %d has arrived at rank %d, and number %d, sent before, had not", number,
					rec.From, b.owner.rank, i)
			}
		}
		p.next = number + 1
		b.taken++
	}
	h := heldRecord{*rec, from}
	b.judge(n, &h, "when it arrived")
	b.held = append(b.held, h)
}

// allReceived checks a mailbox when no operation is under way any more.
func (b *mailboxModel) allReceived(n *node) {
	for rank := range n.c.Nodes {
		for boot := uint8(1); boot <= n.c.boots[rank]; boot++ {
			from := incarnation{rank, boot}
			p := b.flows[from]
			if p == nil || n.c.deaths[pairOf{n.incarnation, from}] {
				continue
			}
			for i := p.next; i < uint64(len(p.status)); i++ {
				if p.status[i] == delivered {
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
		n.c.fail("leak", "%d records of the mailbox of rank %d are promised, and %d messages are being written", promises,
			n.rank, open)
	}
	for i, k := range bytes {
		if k != 0 && open == 0 {
			n.c.fail("leak", "%d bytes of ring %d of the mailbox of rank %d are reserved, and nothing is there", k, i, n.rank)
		}
	}
}
