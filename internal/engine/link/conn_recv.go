package link

import (
	"weft/internal/engine/wire"
	"weft/internal/monotime"
)

// Recv handles a packet that has passed Self.Check. It returns the packet's frame, or nil if there is nothing for the
// layers above; Kept may return more. The frame is valid until a packet is received from any peer. Room says whether
// the layers above take a frame now. Least is the weakest guard that the packet's network allows.
func (c *Conn) Recv(now monotime.Time, pkt []byte, least Guard, room bool) (frame []byte, err error) {
	var f wire.Link
	if _, err = f.Parse(pkt); err != nil {
		return nil, err
	}
	if g := guardOf(&f); g < least || g < c.auth.guard {
		return nil, ErrTag
	}
	if frame, err = c.admit(&f, pkt); err != nil {
		return nil, err
	}
	c.live.pulse.Heard(now)
	data := f.Kind == wire.KindData || f.Kind == wire.KindPart
	c.congestion.heard(crowdSizes{f.Senders, uint32(c.self.sending)})
	if !c.acknowledge(now, &f) {
		if !data && f.Kind != wire.KindProbe && f.Kind != wire.KindGreet {
			return nil, nil // old news, overtaken
		}
	}
	switch f.Kind {
	case wire.KindData:
		c.crowded(now, f.Flags)
		frame = c.receive(now, f.Seq, frame, room)
		if f.Flags&wire.Prompt != 0 {
			c.answer(f.Seq, frame != nil)
		}
		return frame, nil
	case wire.KindPart:
		return c.onPart(now, f.Seq, frame, room), nil
	case wire.KindAck:
		if f.Seq > 0 {
			c.path.proved(now, int(f.Seq))
			c.probeAnswered(now)
		}
	case wire.KindLose:
		if f.Ack == c.send.base && c.send.mode != stopped {
			c.congestion.lost(c.send.base, c.send.high, 1)
			c.goBack()
			c.restart(now)
		}
	case wire.KindStop:
		if f.Ack == c.send.base && c.send.base != c.send.tail {
			c.send.mode = stopped
			c.counts.Sent.Refused++
			c.restart(now)
		}
	case wire.KindGo:
		c.counts.Sent.Resumed++
		c.send.mode = flowing
		c.send.probe = false
		c.goBack()
		c.restart(now)
	case wire.KindProbe:
		c.due[wire.KindAck] = true
		c.due[wire.KindSelect] = c.recv.kept.count > 0 && !c.recv.stopped
		c.path.answer = max(c.path.answer, uint32(len(pkt)))
		if len(frame) == 0 {
			c.rest()
		}
	case wire.KindGreet:
		c.auth.agree(frame)
		c.due[wire.KindAck] = true
	case wire.KindSelect:
		if f.Ack == c.send.base && c.send.mode != stopped {
			c.send.heard = true
			c.selected(now, frame)
		}
	}
	return nil, nil
}

// admit makes the checks of PROTOCOL §2.2 that need the link, and returns the frame.
func (c *Conn) admit(f *wire.Link, pkt []byte) (frame []byte, err error) {
	if f.Incarnation != c.auth.incarnation {
		return nil, ErrStale
	}
	frame, ok := c.auth.in.open(f, pkt)
	if !ok {
		return nil, ErrTag
	}
	if !c.auth.replay.fresh(f.Counter) {
		return nil, ErrReplay
	}
	if c.auth.replay.mark(f.Counter); f.Kind == wire.KindData || f.Kind == wire.KindPart {
		c.wake()
	}
	c.send.selective = f.Flags&wire.Selective != 0
	return frame, nil
}

// receive handles a data packet: the receiver's table of PROTOCOL §2.3.
func (c *Conn) receive(now monotime.Time, seq uint32, frame []byte, room bool) []byte {
	switch {
	case less(seq, c.recv.expected):
		c.counts.Received.Resent++
		c.due[wire.KindAck] = true
		return nil
	case seq != c.recv.expected && c.cfg.Selective && c.send.selective:
		c.keep(now, seq, frame)
		return nil
	case seq != c.recv.expected:
		if !c.recv.gapTold {
			c.recv.gapTold = true
			c.due[wire.KindLose] = true
			c.counts.Received.Lost++
		}
		return nil
	case !room:
		c.recv.stopped = true
		c.recv.gapTold = true
		c.due[wire.KindStop] = true
		c.counts.Received.Refused++
		return nil
	}
	if c.recv.kept.has(seq) { // there was no room for it
		c.recv.kept.spare = append(c.recv.kept.spare, c.recv.kept.take(seq))
	}
	c.accepted(now)
	return frame
}

// answer acknowledges at once a packet that was accepted or is kept. A sender whose window is small would otherwise
// wait for a packet that is not missing.
func (c *Conn) answer(seq uint32, taken bool) {
	switch {
	case taken:
		c.due[wire.KindAck] = true
	case c.recv.kept.has(seq) && !c.recv.stopped && seq-c.recv.expected > c.recv.overtake:
		c.due[wire.KindSelect] = true
	}
}

// accepted counts a frame that goes to the layers above.
func (c *Conn) accepted(now monotime.Time) {
	c.recv.expected++
	c.recv.came = now.Min(c.self.since)
	c.recv.gapTold = c.recv.kept.count > 0
	if c.recv.gapAt != monotime.Never {
		c.recv.gapAt = monotime.Never
		if c.recv.kept.count > 0 {
			c.awaitOvertaken(now)
		}
	}
	c.recv.unacked++
	if c.recv.unacked >= max(c.cfg.Window/4, 1) {
		c.due[wire.KindAck] = true
	} else if c.recv.ackAt == monotime.Never {
		c.recv.ackAt = now.Add(c.cfg.AckDelay)
	}
}

// RoomAgain says that the layers above take frames again: a peer that was
// stopped is told to go.
func (c *Conn) RoomAgain(now monotime.Time) {
	if c.recv.stopped {
		c.recv.stopped = false
		c.recv.gapTold = false
		c.due[wire.KindGo] = true
		c.counts.Received.Resumed++
	}
}
