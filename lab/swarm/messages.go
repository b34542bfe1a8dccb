package swarm

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"sync"
	"time"

	"weft/internal/engine/msg"
)

// A flow is one direction of a channel. Seen by the sender, from is one of its
// incarnations and to any of the receiver's; seen by the receiver, the reverse.
type flow struct {
	from, to incarnation
	channel  uint16
}

// A stream is what one incarnation has sent to a rank.
type stream struct{ sent []*record }

// A record is one message.
type record struct {
	size   int
	sum    uint32
	undone bool // given up, or failed: it must not arrive, or need not
	after  []floor
}

// A floor is what was begun to be written before a message was sent: the
// message must not arrive before it.
type floor struct {
	slot *slot
	gen  uint32
}

// A cursor is how far a receiver has come in a stream.
type cursor struct {
	boot uint8 // the sender's
	next int
	got  []bool // with several threads: which have come
}

// A port is one channel of a node, with the receives that are always posted.
type port struct {
	n         *node
	channel   uint16
	port      *msg.Port
	receivers []*receiver
	lent      int // blocks not yet released
	loans     int // bytes of those that were received from anyone
	order     turnOrder
	share     share
	gaveUp    int  // receives, since the buffer was last known to be within its bounds
	drains    bool // it waits until everything that has been sent is acknowledged
	undrained bool // and something was sent after that began
}

// A receiver is what one thread of a program does: it receives one message after the other.
type receiver struct {
	p    *port
	op   *msg.Op // posted, or being dealt with; nil while the node is silent
	into []byte

	stream uint16 // of what op receives
}

// longest is the longest message that is sent.
const longest = 64 << 10

// intos holds buffers to receive into, for run after run.
var intos = sync.Pool{New: func() any { return new([longest]byte) }}

// open opens a port at a node, and posts as many receives as the program has threads.
func (n *node) open(channel uint16) {
	p := &port{n: n, channel: channel, order: newLine(n.c.Nodes)}
	var err error
	p.port, err = n.eng.Msg.Open(channel, msg.Config{
		RecvBuffer: n.c.RecvBuffer, SendBuffer: n.c.SendBuffer, Backoff: n.c.Backoff,
	})
	n.check("Open", err)
	n.ports = append(n.ports, p)
	for range n.c.Threads {
		r := &receiver{p: p, into: intos.Get().(*[longest]byte)[:]}
		p.receivers = append(p.receivers, r)
		r.post()
	}
}

// send sends a message of some length, in one of the ways to do so.
func (n *node) send(rank int) {
	p := n.ports[n.c.world.Rand.IntN(len(n.ports))]
	rec, b := n.compose(rank, p.stream())
	how := n.c.world.Rand.IntN(3)
	switch {
	case len(b) > msg.MaxEager && how == 2 || how == 0:
	case how == 1:
		if p.port.Give(rank, b) {
			n.sent(rank, p.stream(), rec)
			return
		}
	default:
		if block := p.port.Reserve(rank, len(b)); block != nil {
			copy(block.Data(), b)
			p.port.Commit(rank, block)
			n.sent(rank, p.stream(), rec)
			return
		}
	}
	n.sent(rank, p.stream(), rec)
	n.begin(p, &msg.Op{Kind: msg.Send, Peer: rank, Buf: b, Alone: true}, rec, n.c.world.Chance(n.c.Cancel))
	if n.c.world.Chance(0.05) {
		n.begin(p, &msg.Op{Kind: msg.Flush, Peer: msg.Any}, &record{}, n.c.world.Chance(n.c.Cancel))
	}
}

// begin starts a send or flush, and gives it up after a while if so told.
func (n *node) begin(p *port, op *msg.Op, rec *record, giveUp bool) {
	n.pending++
	ended := func(*msg.Op) {
		n.ended()
		if !n.check("Send", op.Err) {
			rec.undone = true
		}
	}
	op.Owner = ended
	p.port.Start(op)
	if op.State == msg.Done {
		ended(op)
		return
	}
	if giveUp {
		n.later(n.c.world.Between(0, 2*time.Millisecond), func() {
			if p.port.Cancel(op) {
				if len(op.Buf) > 0 {
					n.eng.Detach(op.Buf)
				}
				n.ended()
				rec.undone = true
			}
		})
	}
}

// compose makes up a message: most are short, some must be fetched. Where
// incarnations follow each other it says which one it comes from.
func (n *node) compose(rank int, channel uint16) (*record, []byte) {
	r := n.c.world.Rand
	size := 0
	switch p := r.IntN(100); {
	case n.c.Large && p < 40:
		size = msg.MaxEager/2 + r.IntN(msg.MaxEager/2+1)
	case n.c.Large && p < 60:
		size = msg.MaxEager - r.IntN(64)
	case n.c.Large && p < 70:
		size = msg.MaxEager + 1 + r.IntN(longest-msg.MaxEager)
	case p < 50:
		size = r.IntN(65)
	case p < 85:
		size = r.IntN(1 << 10)
	case p < 96:
		size = r.IntN(8 << 10)
	case p < 98:
		size = r.IntN(msg.MaxEager + 1)
	default:
		size = msg.MaxEager + 1 + r.IntN(longest-msg.MaxEager)
	}
	if n.c.Restart || n.c.Threads > 1 {
		size = max(size, 8)
	}
	b := make([]byte, size)
	fill(b, r.Uint64())
	if size >= 8 {
		binary.LittleEndian.PutUint64(b,
			uint64(n.boot)<<56|uint64(n.rank)<<48|uint64(rank)<<40|uint64(len(n.stream(rank, channel).sent)))
	}
	return &record{size: size, sum: crc32.Checksum(b, castagnoli)}, b
}

// castagnoli is the table of the CRC by which a receiver recognizes content. Its speed matters: a run checks every
// byte.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// fill writes bytes that follow from a seed.
func fill(b []byte, seed uint64) {
	for ; len(b) >= 8; b = b[8:] {
		seed = seed*0x9e3779b97f4a7c15 + 1
		binary.LittleEndian.PutUint64(b, seed^seed>>31)
	}
	for i := range b {
		b[i] = byte(seed >> (8 * i))
	}
}

// stream returns the messages from this incarnation to a rank on a channel.
func (n *node) stream(rank int, channel uint16) *stream {
	key := flow{n.incarnation, incarnation{rank: rank}, channel}
	s := n.c.streams[key]
	if s == nil {
		s = &stream{}
		n.c.streams[key] = s
		n.c.flows = append(n.c.flows, key)
	}
	return s
}

// sent notes that a message has been handed to the engine.
func (n *node) sent(rank int, channel uint16, rec *record) {
	s := n.stream(rank, channel)
	s.sent = append(s.sent, rec)
	rec.after = n.remotes[rank].floors(n.rank)
}

// verify checks that a message is the next one of its sender.
func (p *port) verify(stream uint16, from int, b []byte) {
	n := p.n
	c := p.n.c
	what := fmt.Sprintf("rank %d, channel %d, from rank %d", n.rank, p.channel, from)
	key := flow{incarnation{rank: from}, n.incarnation, stream}
	cur := c.cursors[key]
	if cur == nil {
		cur = &cursor{boot: 1}
		if (c.Restart || c.Threads > 1) && len(b) >= 8 {
			cur.boot = b[7]
		}
		c.cursors[key] = cur
	}
	if c.Threads > 1 {
		p.verifyAny(what, stream, from, b, cur)
		return
	}
	s := c.streams[flow{incarnation{from, cur.boot}, incarnation{rank: n.rank}, stream}]
	if s == nil {
		c.fail("delivery", "%s: %d bytes that nobody sent", what, len(b))
	}
	// A long message that was only announced dies with its sender.
	dead := n.eng.Gone(from) != nil
	for ; cur.next < len(s.sent); cur.next++ {
		if rec := s.sent[cur.next]; !rec.undone && !(dead && rec.size > msg.MaxEager && rec.size != len(b)) {
			break
		}
	}
	if cur.next == len(s.sent) {
		c.fail("delivery", "%s: %d bytes, but all %d messages have been received", what, len(b), len(s.sent))
	}
	rec := s.sent[cur.next]
	if len(b) != rec.size || crc32.Checksum(b, castagnoli) != rec.sum {
		got := fmt.Sprintf("%d other bytes", len(b))
		if len(b) >= 8 {
			got += fmt.Sprintf(", those of message %d", binary.LittleEndian.Uint32(b))
		}
		c.fail("delivery", "%s: message %d of %d bytes was due, and %s came", what, cur.next, rec.size, got)
	}
	cur.next++
	for _, f := range rec.after {
		f.check(n, from)
	}
}

// verifyAny checks a message of a port at which several threads receive: short ones
// arrive in order, and long ones once, when they have been fetched.
func (p *port) verifyAny(what string, stream uint16, from int, b []byte, cur *cursor) {
	c := p.n.c
	s := c.streams[flow{incarnation{from, cur.boot}, incarnation{rank: p.n.rank}, stream}]
	if len(b) < 8 || b[7] != cur.boot || s == nil {
		c.fail("delivery", "%s: %d bytes that nobody sent", what, len(b))
	}
	at := int(binary.LittleEndian.Uint32(b))
	if at >= len(s.sent) || len(b) != s.sent[at].size || crc32.Checksum(b, castagnoli) != s.sent[at].sum {
		c.fail("delivery", "%s: %d bytes that say they are message %d, and are not", what, len(b), at)
	}
	for len(cur.got) < len(s.sent) {
		cur.got = append(cur.got, false)
	}
	if cur.got[at] || s.sent[at].undone {
		c.fail("delivery", "%s: message %d has come before, or was given up", what, at)
	}
	cur.got[at] = true
	for ; len(b) <= msg.MaxEager && cur.next < at; cur.next++ {
		if rec := s.sent[cur.next]; !cur.got[cur.next] && !rec.undone && rec.size <= msg.MaxEager {
			c.fail("delivery", "%s: message %d came before message %d", what, at, cur.next)
		}
	}
	for _, f := range s.sent[at].after {
		f.check(p.n, from)
	}
}

// allReceived ends the run unless everything that was sent between two nodes that are
// still there has been received.
func (c *cluster) allReceived() {
	for _, key := range c.flows {
		s := c.streams[key]
		a := c.nodes[key.from.rank]
		b := c.nodes[key.to.rank]
		if a == nil || b == nil || a.boot != key.from.boot || a.eng.Gone(b.rank) != nil || b.eng.Gone(a.rank) != nil {
			continue
		}
		next := 0
		got := []bool(nil)
		if cur := c.cursors[flow{incarnation{rank: a.rank}, b.incarnation, key.channel}]; cur != nil && cur.boot == a.boot {
			next = cur.next
			got = cur.got
		}
		if c.Threads > 1 {
			next = 0
		}
		for ; next < len(s.sent); next++ {
			if !s.sent[next].undone && !(next < len(got) && got[next]) {
				c.fail("delivery", "rank %d never received message %d of %d from rank %d on channel %d",
					b.rank, next, len(s.sent), a.rank, key.channel)
			}
		}
	}
}
