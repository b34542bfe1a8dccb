package msg

import (
	"weft/failure"
	"weft/internal/engine/wire"
)

// Start begins an operation. When it returns, op may already be Done; else it
// belongs to the engine until Finished returns it.
func (p *Port) Start(op *Op) {
	op.port = p
	op.State = Pending
	op.Err = nil
	op.Block = nil
	op.token = 0
	op.borrow = op.Buf == nil
	op.recalled = false
	op.Quiet = false
	op.packets = false
	if !p.open {
		op.State = Done
		op.Err = p.Closed()
		return
	}
	if p.freezing.frozen && op.Kind != Await && op.Kind != Freeze {
		op.State = Done
		op.Err = p.freezing.why
		return
	}
	switch op.Kind {
	case Send, Room:
		p.startSend(op)
	case Recv:
		p.startRecv(op)
	case Flush:
		p.startFlush(op)
	case Await:
		p.startAwait(op)
	case Freeze:
		p.startFreeze(op)
	}
}

// startSend gives a send its number, or makes it wait for room.
func (p *Port) startSend(op *Op) {
	if err := p.layer.gone[op.Peer]; err != nil {
		op.State = Done
		op.Err = err
		return
	}
	if len(op.Buf) > p.cfg.MaxMessage {
		op.State = Done
		op.Err = &failure.TooLongError{Size: len(op.Buf), Limit: p.cfg.MaxMessage, What: "PortConfig.MaxMessage"}
		return
	}
	d := p.pair(op.Peer)
	if d.denied != nil {
		op.State = Done
		op.Err = d.denied
		return
	}
	if !d.waiting.Empty() || !p.admit(d, op) && !(p.stretch(d) && p.admit(d, op)) {
		d.waiting.Push(&op.link, op)
		p.alone = p.alone || op.Alone
		p.starve(d)
	}
}

// admit gives a send a number if there is room for it. A short message is
// copied and done with; a long one is announced.
func (p *Port) admit(d *pair, op *Op) bool {
	if op.Kind == Room {
		b := p.reserve(d, MaxEager)
		if b == nil {
			return false
		}
		p.send.put(b)
		op.State = Done
		return true
	}
	if len(op.Buf) > p.eager(d) {
		return p.announce(d, op)
	}
	if !p.give(d, nil, op.Buf) {
		return false
	}
	op.State = Done
	op.Seq = d.next - 1
	return true
}

// eager returns up to how many bytes a message to a peer is sent without being asked for. (PROTOCOL §3.1)
func (p *Port) eager(d *pair) int {
	switch {
	case d.reach != far || !d.q.Lossy || !p.keepsFar():
		return MaxEager
	case d.q.Long && min(p.part(d), d.credit) >= roomy*MaxUnasked:
		return MaxUnasked
	default:
		return MaxFar
	}
}

// keepsFar reports whether the send buffer can hold two of the longest messages that are sent unasked.
func (p *Port) keepsFar() bool { return p.send.limit >= 2*MaxFar }

// give sends a short message, of a head and a body, if there is room for it.
func (p *Port) give(d *pair, head, b []byte) bool {
	n := len(head) + len(b)
	c := class(n)
	size := 1 << c
	if !p.hasRoom(d, size) {
		return false
	}
	direct := p.direct(d, head, b, size)
	block := p.send.take(c, n)
	copyHead(block.mem, head)
	copyBytes(block.mem[len(head):], b)
	if direct {
		p.number(d, size).block = block
		p.gone(d, size)
	} else {
		p.append(d, entry{block: block}, size)
	}
	return true
}

// gone counts a message that has been transmitted directly.
func (p *Port) gone(d *pair, size int) {
	d.sent++
	d.inFlight += size
	p.owe(d)
}

// Last returns the number of the message that was sent last to a peer.
func (p *Port) Last(to int) uint32 { return p.pair(to).next - 1 }

// HasRoom reports whether a message of n bytes to a peer would find room now.
func (p *Port) HasRoom(to, n int) bool {
	if !p.open || p.freezing.frozen || len(p.layer.gone) > 0 && p.layer.gone[to] != nil {
		return false
	}
	d := p.pair(to)
	return d.waiting.Empty() && p.hasRoom(d, 1<<class(n))
}

// direct transmits a message before it is numbered and kept, if no message before it is held and the transport takes it
// at once. The caller does the rest while the message travels.
func (p *Port) direct(d *pair, first, b []byte, size int) bool {
	if d.sent != d.next || d.flow != flowing || !d.q.Follows(d.q.Last()) || len(d.flushes) > 0 || d.inFlight > 0 &&
		d.inFlight+size > d.credit {
		return false
	}
	ask := d.sent+1-d.asked >= p.rule.every || d.askBytes+size > p.send.limit/8
	head := d.q.Head()[:wire.DataSize+len(first)]
	wire.PutWhole((*[wire.DataSize]byte)(head), p.channel, d.next, d.expected, uint32(len(first)+len(b)), ask)
	copyHead(head[wire.DataSize:], first)
	if !d.q.Direct(head, b, ask || p.cfg.Service) {
		return false
	}
	d.told = d.expected
	d.askBytes += size
	if ask {
		d.asked = d.sent + 1
		d.askBytes = 0
	}
	return true
}

// MostHead is the longest head of a message that is given in two parts, in bytes.
const MostHead = wire.MaxHead - wire.DataSize

// Give sends a short message if that needs no waiting, and reports whether it
// did. It is Start without an Op.
func (p *Port) Give(to int, b []byte) bool { return p.GiveParts(to, nil, b) }

// GiveParts is Give for a message of a head, of up to MostHead bytes, and a body.
func (p *Port) GiveParts(to int, head, b []byte) bool {
	n := len(head) + len(b)
	if !p.open || p.freezing.frozen || n > MaxUnasked || n > p.cfg.MaxMessage || len(p.layer.gone) > 0 &&
		p.layer.gone[to] != nil {
		return false
	}
	d := p.pair(to)
	return (n <= MaxEager || n <= p.eager(d)) && d.waiting.Empty() && p.give(d, head, b)
}

// hasRoom reports whether a message to a peer that takes size bytes can be kept. One peer gets at most
// half of the buffer, so that a peer that does not receive cannot stop the traffic
// to all others.
func (p *Port) hasRoom(d *pair, size int) bool {
	return d.next-d.base < d.most() && (d.queued == 0 || d.queued+size <= p.part(d)) && size <= p.send.room()
}

// reserve returns a block for a message to a peer, or nil if there is no room.
func (p *Port) reserve(d *pair, n int) *Block {
	if !p.hasRoom(d, 1<<class(n)) {
		return nil
	}
	return p.send.get(n)
}

// number takes the next number and returns its entry, whose block or offer is to be filled in.
func (p *Port) number(d *pair, size int) *entry {
	if int(d.next-d.base) == len(d.entries) {
		d.growEntries()
	}
	d.next++
	p.unacked++
	d.queued += size
	p.layer.Stats.Sent++
	d.q.Counts.Sent.Messages++
	e := d.entry(d.next - 1)
	e.after = 0
	return e
}

// append numbers an entry and transmits it unless it must be held.
func (p *Port) append(d *pair, e entry, size int) {
	e.after = d.q.Last()
	*p.number(d, size) = e
	p.pump(d)
}

// entry returns the place of a message that is kept.
func (d *pair) entry(seq uint32) *entry { return &d.entries[seq&uint32(len(d.entries)-1)] }

// growEntries doubles the ring of messages that are kept.
func (d *pair) growEntries() {
	bigger := make([]entry, 2*len(d.entries))
	for s := d.base; s != d.next; s++ {
		bigger[s&uint32(len(bigger)-1)] = *d.entry(s)
	}
	d.entries = bigger
}

// size returns the room that an entry takes, at the sender and at the receiver.
func (e *entry) size() int {
	if e.block == nil {
		return 1 << minClass
	}
	return len(e.block.mem)
}

// pump transmits held messages, as far as the receiver is known to have room for them. One message may always be on its
// way, to find out.
func (p *Port) pump(d *pair) {
	if p.freezing.frozen {
		return
	}
	for d.flow == flowing && d.sent != d.next && d.q.Follows(d.entry(d.sent).after) {
		size := d.entry(d.sent).size()
		if d.inFlight > 0 && d.inFlight+size > d.credit {
			p.ask(d, true) // the program may compute meanwhile
			return
		}
		d.inFlight += size
		d.askBytes += size
		d.sent++
		due := d.sent-d.asked >= p.rule.every || d.askBytes > p.send.limit/8
		p.transmit(d, d.sent-1, due || size > MaxEager || d.wonders())
	}
	if len(d.flushes) > 0 {
		p.ask(d, false)
	}
	p.owe(d)
}

// wonders reports whether the message that was transmitted last was announced only because the peer has not said
// yet whether it takes such messages at once.
func (d *pair) wonders() bool {
	e := d.entry(d.sent - 1)
	return e.block == nil && d.reach == unheard && d.q.Lossy && e.offer.Total <= MaxUnasked && d.port.keepsFar()
}

// Resume transmits messages that had to wait until operations on the peer's memory were on their way. A message never
// arrives before the effect of an operation that was begun before it.
func (l *Layer) Resume(rank int) {
	for _, channel := range sortedKeys(l.ports) {
		p := l.ports[channel]
		if d := p.pairs[rank]; d != nil && d.sent != d.next {
			p.pump(d)
		}
	}
}

// transmit puts one message on its way, with our acknowledgement of what came
// from there. When ask is set the receiver will acknowledge at once. What goes to a Service wakes a peer that computes.
func (p *Port) transmit(d *pair, seq uint32, ask bool) {
	e := d.entry(seq)
	d.told = d.expected
	if ask {
		d.asked = d.sent
		d.askBytes = 0
	}
	if e.block != nil {
		f := &wire.Data{AckReq: ask, Channel: p.channel, Seq: seq, Ack: d.expected, Total: uint32(e.block.n)}
		d.q.Push(f.Append(d.q.Head()), e.block.Data(), ask || p.cfg.Service)
		return
	}
	f := wire.RTS{
		AckReq: ask, Channel: p.channel, Seq: seq, Ack: d.expected,
		Token: e.offer.Token, Total: uint64(e.offer.Total), Mem: e.offer.Mem, Addr: e.offer.Addr,
	}
	d.q.Push(f.Append(d.q.Head()), nil, ask || p.cfg.Service)
}

// owe remembers that a pair holds send buffer for what it has transmitted. While a send waits for room, owe asks for
// the acknowledgement at once, which frees that buffer.
func (p *Port) owe(d *pair) {
	if !d.listed {
		d.listed = true
		p.unasked = append(p.unasked, d)
	}
	if len(p.starved) > 0 || p.layer.draining {
		p.ask(d, p.alone)
	}
}

// ask asks the receiver to acknowledge everything transmitted, unless it has been asked, or has refused a message and
// will speak by itself. The answer to an ACKREQ wakes this process while it computes. Wake asks for that: it is set
// where no goroutine waits, since a waiting goroutine is woken by any packet.
func (p *Port) ask(d *pair, wake bool) {
	if p.freezing.frozen || d.flow != flowing || d.base == d.sent || d.urged == d.sent || d.asked == d.sent && !wake {
		return
	}
	d.asked = d.sent
	d.urged = d.sent
	d.askBytes = 0
	d.told = d.expected
	d.q.Push(wire.AckReq{Channel: p.channel, Ack: d.expected}.Append(d.q.Head()), nil, true)
}

// askAll asks all receivers that have messages of ours to acknowledge them: a send waits for
// room in the buffer, which all pairs share. (PROTOCOL §3.3)
func (p *Port) askAll() {
	for _, d := range p.unasked {
		d.listed = false
		p.ask(d, p.alone)
	}
	p.unasked = p.unasked[:0]
}
