package fm

import (
	"context"
	"encoding/binary"
	"errors"

	"weft"
)

// Extract extracts packets that have arrived, and runs or resumes their handlers, until the packets
// held at least most bytes of messages; it returns how many bytes they held. Packets are extracted
// whole, so n may exceed most. Extract does not wait.
//
// The error is the oldest that has not been reported yet, if there is one: a HandlerError of a
// handler of this rank, or for a message of this rank, or the weft.PeerError of a rank that has
// died. Extract, Wait, Until and Barrier report each error once, and the endpoint can be used on.
func (e *Endpoint) Extract(most int) (n int, err error) {
	if err := e.ep.Enter(context.Background()); err != nil {
		return 0, err
	}
	defer e.ep.Leave()
	for n < most {
		ok, err := e.ep.TryReceive()
		if err != nil {
			return n, err
		}
		if !ok {
			break
		}
		n += e.handle()
	}
	return n, e.ep.Failure()
}

// Wait returns when a packet has arrived, or with an error as Extract does. It runs no handler.
func (e *Endpoint) Wait(ctx context.Context) error { return e.ep.Wait(ctx) }

// Until extracts until cond returns true, and sleeps while nothing arrives. It calls cond first,
// and again after each packet; no handler runs during cond, and cond must not call the endpoint.
// Errors are those of Extract.
func (e *Endpoint) Until(ctx context.Context, cond func() bool) error { return e.ep.Until(ctx, cond) }

// Barrier returns when all ranks have called it, and extracts while it waits. When it returns nil,
// all messages have been extracted that any rank had ended before. If a rank dies or leaves before
// it has called Barrier, all others get a weft.PeerError, and get it again from each later Barrier.
// Other errors of Extract are reported later.
func (e *Endpoint) Barrier(ctx context.Context) (err error) {
	if err := e.ep.Enter(ctx); err != nil {
		return err
	}
	defer e.ep.Leave()
	// A rank's port accepts messages before the notice that all ranks have arrived. So after the
	// first round all messages have been extracted, and after the second round the credits that this
	// gave back have arrived, too: nothing is on its way any more.
	for round := 0; round < 2 && err == nil; round++ {
		e.ep.Pause(func() { err = e.ep.Port.Flush(ctx) })
		if err == nil {
			err = e.ep.Barrier(ctx)
		}
	}
	return e.ep.Explain(err, "barrier", "")
}

// handle handles the packet or control message that has been received, and returns how many bytes
// of a message it held.
func (e *Endpoint) handle() int {
	defer e.ep.Release()
	from := e.ep.From
	b := e.ep.Data
	if len(b) < headSize || b[0] >= kinds || from == e.ep.Me {
		e.stats.Strange++
		return 0
	}
	p := &e.peers[from]
	if back := binary.LittleEndian.Uint32(b[12:]); back != 0 {
		if back > uint32(e.credits-p.credit) {
			e.stats.Strange++
			back = uint32(e.credits - p.credit)
		}
		p.credit += int(back)
	}
	switch b[0] {
	case kindPacket:
		defer e.extracted(from, p, e.units(len(b)))
		return e.packet(from, p, b)
	case kindAborted:
		e.breakOff(&p.in, &AbortedError{From: from, Reason: string(b[headSize:])})
	case kindFailed:
		if h := int(binary.LittleEndian.Uint16(b[2:])); h < len(e.table) {
			why := errors.New(string(b[headSize:]))
			e.ep.Report(&HandlerError{Rank: from, From: e.ep.Me, Handler: h, Name: e.table[h].Name, Err: why})
		}
	}
	return 0
}

// packet hands a packet of a message to its handler, and returns how many bytes of the message it
// held.
func (e *Endpoint) packet(from int, p *peer, b []byte) int {
	m := &p.in
	flags := b[1]
	if flags&first != 0 {
		h := int(binary.LittleEndian.Uint16(b[2:]))
		if m.state != none || h >= len(e.table) {
			e.stats.Strange++
			return 0
		}
		*m = Message{From: from, Length: int(binary.LittleEndian.Uint32(b[8:])), e: e, handler: h}
	}
	data := b[headSize:]
	if m.state == none && flags&first == 0 || m.got+len(data) > m.Length {
		e.stats.Strange++
		return 0
	}
	m.got += len(data)
	m.data = data
	m.ended = flags&last != 0
	switch {
	case flags&first != 0:
		e.begin(m)
	case m.state == running:
		e.resume(m)
	}
	m.data = nil
	if m.ended {
		m.state = none
	}
	return len(data)
}

// extracted counts the credits of an extracted packet, and gives credits back when half of them are
// owed.
func (e *Endpoint) extracted(from int, p *peer, units int) {
	e.stats.Extracted++
	p.owed += units
	if 2*p.owed >= e.credits {
		e.stats.Credits++
		_ = e.tell(from, kindCredits, 0, "") // fails only if the rank is gone
	}
}

// departed ends the message of a rank that has died or left.
func (e *Endpoint) departed(rank int, why *weft.PeerError) {
	m := &e.peers[rank].in
	if !why.Clean || m.state == running {
		e.ep.Report(why)
	}
	e.breakOff(m, why)
}
