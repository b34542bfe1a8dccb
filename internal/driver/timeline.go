package driver

import (
	"weft/internal/engine/coord"
	"weft/internal/engine/msg"
	"weft/internal/engine/rma"
	"weft/internal/timeline"
	"weft/internal/transport"
)

// The methods below note what the node does, where it has a timeline. Their callers check that
// first, so that a node without one pays for one comparison. The lock is held.

// mark reads the clock of the timeline.
func (n *Node) mark() int64 {
	if n.timeline == nil {
		return 0
	}
	return n.timeline.Now()
}

// markSend reads the clock of the timeline before a message is sent, where there is a
// network: to send takes a system call, during which the message may arrive. In shared memory
// to send takes so little that noteSent reads the clock afterwards, and does not delay the
// message.
func (n *Node) markSend() int64 {
	if n.timeline == nil || !n.transports.network {
		return 0
	}
	return n.timeline.Now()
}

// noteSent notes a message that has been sent without waiting.
func (n *Node) noteSent(began int64, p *msg.Port, to, size int) {
	now := n.timeline.Now()
	self := n.cfg.Engine.Rank
	if began == 0 {
		began = now
	}
	n.timeline.Add(timeline.Event{
		Begin: began, End: now, ID: timeline.MessageID(self, to, p.Channel(), p.Last(to)),
		Size: uint64(size), Peer: int32(to), Kind: timeline.Send,
	})
}

// noteReceived notes a message, by its number and size, whose receive began at a time; 0: now.
func (n *Node) noteReceived(began int64, p *msg.Port, from int, seq uint32, size int) {
	now := n.timeline.Now()
	self := n.cfg.Engine.Rank
	if began == 0 {
		began = now
	}
	n.timeline.Add(timeline.Event{
		Begin: began, End: now, ID: timeline.MessageID(from, self, p.Channel(), seq),
		Size: uint64(size), Peer: int32(from), Kind: timeline.Receive,
	})
}

// noteReceive notes a receive that began at a time. Of a long message only its announcement is
// received here: its bytes are fetched later.
func (n *Node) noteReceive(began int64, c *Call, err error) {
	e := timeline.Event{
		Begin: began, End: n.timeline.Now(), Size: uint64(c.Msg.N), Peer: int32(c.Msg.From), Kind: timeline.Receive,
	}
	switch {
	case err != nil:
		e.Flags = timeline.Failed
		e.Size = 0
		e.Peer = int32(c.Msg.Peer)
	case c.Msg.State != msg.Offered:
		e.ID = n.messageID(c)
	}
	n.timeline.Add(e)
}

// messageID returns the number of the message that a call has sent or received.
func (n *Node) messageID(c *Call) uint64 {
	from := n.cfg.Engine.Rank
	to := c.Msg.Peer
	if c.Msg.Kind == msg.Recv {
		from, to = c.Msg.From, from
	}
	return timeline.MessageID(from, to, c.port.Channel(), c.Msg.Seq)
}

// messageKinds are the kinds under which the timeline shows message operations.
var messageKinds = [...]timeline.Kind{
	msg.Send: timeline.Send, msg.Recv: timeline.Fetch, msg.Flush: timeline.Flush, msg.Room: timeline.Room,
	msg.Await: timeline.Await, msg.Freeze: timeline.Freeze,
}

// memoryKinds are the kinds under which the timeline shows accesses to memory.
var memoryKinds = [...]timeline.Kind{
	rma.Attach: timeline.Attach, rma.Push: timeline.Push, rma.Pull: timeline.Pull, rma.Atomic: timeline.Atomic,
	rma.Flush: timeline.Complete, rma.IPush: timeline.IPush,
}

// noteCall notes a call that has come to its end, with its error.
func (n *Node) noteCall(c *Call, err error) {
	e := timeline.Event{Begin: c.began, End: n.timeline.Now(), Peer: timeline.Nobody}
	if c.over != 0 {
		e.End = c.over
		c.over = 0
	}
	if err != nil {
		e.Flags = timeline.Failed
	}
	switch c.is {
	case message:
		e.Kind = messageKinds[c.Msg.Kind]
		e.Peer = int32(c.Msg.Peer)
		e.Size = uint64(len(c.Msg.Buf))
		if c.Msg.Kind == msg.Recv {
			e.Peer = int32(c.Msg.From)
			e.Size = uint64(c.Msg.N)
		}
		if err == nil && e.Kind.Message() && c.Msg.State == msg.Done {
			e.ID = n.messageID(c)
		}
	case memory:
		if c.RMA.Kind == rma.Await {
			return // the mailbox notes its wait, of which this is a part
		}
		e.Kind = memoryKinds[c.RMA.Kind]
		e.Peer = int32(c.RMA.Peer)
		e.Size = uint64(len(c.RMA.Buf))
		if c.RMA.Kind == rma.Atomic {
			e.Size = 8
		}
		if c.RMA.Kind == rma.IPush && err == nil {
			e.ID = timeline.MailID(c.RMA.Peer, c.RMA.Region, uint32(c.RMA.Value))
		}
	default:
		return
	}
	n.timeline.Add(e)
}

// noteMoment notes an operation that took no waiting.
func (n *Node) noteMoment(kind timeline.Kind, id uint64, peer, size int) {
	now := n.timeline.Now()
	n.timeline.Add(timeline.Event{Begin: now, End: now, ID: id, Size: uint64(size), Peer: int32(peer), Kind: kind})
}

// noteCoordination notes an operation on a lock, semaphore, condition or barrier.
func (n *Node) noteCoordination(began int64, o *coord.Object, kind coord.Kind, r Outcome, err error) {
	if kind >= coord.Break {
		return
	}
	e := timeline.Event{
		Begin: began, End: n.timeline.Now(), ID: o.ID, Size: r.Phase, Peer: timeline.Nobody,
		Kind: timeline.Lock + timeline.Kind(kind-coord.Lock),
	}
	if err != nil {
		e.Flags = timeline.Failed
	}
	n.timeline.Add(e)
}

// noteSleep notes that a goroutine has slept since then.
func (n *Node) noteSleep(began int64) {
	n.timeline.Add(timeline.Event{Begin: began, End: n.timeline.Now(), Peer: timeline.Nobody, Kind: timeline.Sleep})
}

// noteOut notes the packets that a transport has taken, if it is a network: in
// shared memory the message tells as much.
func (n *Node) noteOut(p *Peer, taken int) {
	if taken == 0 || !isNetwork(p.Transport) {
		return
	}
	now := n.timeline.Now()
	e := timeline.Event{Begin: now, End: now, Count: uint16(taken), Peer: int32(p.Rank), Kind: timeline.PacketsOut}
	for i := range n.scratch.out[:taken] {
		e.Size += uint64(len(n.scratch.out[i].Header) + len(n.scratch.out[i].Payload))
		if n.scratch.out[i].Again > 0 {
			e.ID++
		}
	}
	n.timeline.Add(e)
}

// noteIn notes the packets that have arrived, if by a network.
func (n *Node) noteIn(t transport.Transport, count int) {
	if !isNetwork(t) {
		return
	}
	now := n.timeline.Now()
	e := timeline.Event{Begin: now, End: now, Count: uint16(count), Peer: timeline.Nobody, Kind: timeline.PacketsIn}
	for i := range n.scratch.in[:count] {
		e.Size += uint64(len(n.scratch.in[i].Data))
	}
	n.timeline.Add(e)
}

// isNetwork reports whether a transport leads to other hosts, so that its packets are worth
// noting beside the messages.
func isNetwork(t transport.Transport) bool {
	caps := t.Caps()
	return !caps.Reliable || caps.Beats
}
