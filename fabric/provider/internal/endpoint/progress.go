package endpoint

import (
	"weft/internal/engine"
	"weft/internal/engine/link"
	"weft/internal/engine/msg"
	"weft/internal/monotime"
	"weft/internal/transport"
)

// batch is how many packets are received or sent at a time.
const batch = 64

// run is how many bytes are sent before the networks are looked at again.
const run = 256 << 10

// scratch is memory that is used under the lock.
type scratch struct {
	in      [batch]transport.In
	out     [batch]transport.Out
	packets [batch]link.Packet
	wanted  []int
	self    []byte // a packet of this endpoint to itself
}

// An extent says how much progress does.
type extent uint8

const (
	everything extent = iota
	protocol          // messages stay where they are
)

// Progress receives what has arrived, sends what there is to send, and tells of what has ended.
func (e *Endpoint) Progress() {
	e.looks.Store(e.looks.Load() + 1)
	e.mu.Lock()
	e.progress(everything)
	e.mu.Unlock()
}

// progress is Progress with the lock held.
func (e *Endpoint) progress(how extent) {
	if e.closed {
		return
	}
	now := e.receive(e.now())
	if e.eng.Timed() && !now.Before(e.eng.Deadline()) {
		e.eng.Advance(now)
	}
	if len(e.peers.greet) > 0 && !now.Before(e.peers.greetAt) {
		e.greetAgain(now)
	}
	e.eng.Retry()
	if how == everything {
		e.deliver()
	}
	e.payOff()
	e.flush(now)
	e.sent.catchUp()
	e.received.catchUp()
}

// udpRounds is how often UDP is looked at beside raw Ethernet, which costs no system call: once in so many times.
const udpRounds = 16

// receive hands the engine what has arrived.
func (e *Endpoint) receive(now monotime.Time) monotime.Time {
	since := e.polled
	e.polled = now
	for i, t := range e.networks.all {
		if i == 0 && len(e.networks.all) > 1 {
			if e.quiet++; e.quiet%udpRounds != 0 {
				continue
			}
		}
		for {
			k := t.Poll(e.scratch.in[:])
			if k == 0 {
				break
			}
			if i == 0 {
				e.quiet = -1 // look again next time
			}
			if since != e.told {
				e.told = since
				e.eng.Since(since)
			}
			for j := range e.scratch.in[:k] {
				if b := e.scratch.in[j].Data; !e.onGreeting(b) {
					e.eng.Recv(now, engine.Trusted, b)
				}
			}
			t.Release()
			if k < batch {
				break
			}
			now = e.now()
			e.flush(now) // answers must not wait for the end of a flood
		}
	}
	return now
}

// flush sends what the engine has to send, or a run of it, and handles the operations that have ended.
func (e *Endpoint) flush(now monotime.Time) {
	for bytes := 0; bytes < run; {
		id, k, urgent := e.eng.Output(now, e.scratch.packets[:])
		if k == 0 {
			break
		}
		if id == e.name.id {
			e.loop(now)
			continue
		}
		t := e.peers.find(id).transport
		for i := range k {
			p := &e.scratch.packets[i]
			e.scratch.out[i] = transport.Out{
				Peer: id, Header: p.Header, Payload: p.Payload, Bulk: p.Bulk, Urgent: urgent, Again: p.Again,
			}
			bytes += len(p.Header) + len(p.Payload)
		}
		taken := t.Send(e.scratch.out[:k])
		e.eng.Taken(now, id, k, taken, e.scratch.packets[:])
		clear(e.scratch.packets[:k])
		clear(e.scratch.out[:k])
		for _, id := range t.Resized() {
			e.eng.Resize(now, id, t.PeerMTU(id))
		}
	}
	e.finish()
	if e.scratch.wanted = e.eng.Wanted(e.scratch.wanted[:0]); len(e.scratch.wanted) > 0 {
		for _, id := range e.scratch.wanted {
			e.want(id)
		}
		e.flush(now)
	}
	e.scratch.wanted = e.eng.Awaited(e.scratch.wanted[:0]) // no launcher tells of them
	if gone := e.eng.Departures(); len(gone) > e.departed {
		e.part(gone[e.departed:])
		e.departed = len(gone)
	}
}

// finish handles the operations that have ended or are offered.
func (e *Endpoint) finish() {
	for op := e.eng.Msg.Finished(); op != nil; op = e.eng.Msg.Finished() {
		switch of := op.Owner.(type) {
		case *outgoing:
			e.ended(of, op.Err)
		case *incoming:
			e.goOn(of)
		}
	}
}

// loop hands a packet that this endpoint sends to itself back to the engine.
func (e *Endpoint) loop(now monotime.Time) {
	if e.scratch.self == nil {
		e.scratch.self = make([]byte, 1<<16)
	}
	p := &e.scratch.packets[0]
	n := copy(e.scratch.self, p.Header)
	n += copy(e.scratch.self[n:], p.Payload)
	e.eng.Taken(now, e.name.id, 1, 1, e.scratch.packets[:])
	*p = link.Packet{}
	e.eng.Recv(now, e.name.id, e.scratch.self[:n])
}

// part ends what waits for peers that have gone.
func (e *Endpoint) part(gone []engine.Departure) {
	for _, d := range gone {
		p := e.peers.byID[d.Rank]
		if p == nil {
			continue
		}
		for _, q := range e.queues {
			for r, ok := q.Withdraw(p.number); ok; r, ok = q.Withdraw(p.number) {
				e.fail(r, ErrAborted)
			}
		}
		e.remote.abort(e, p)
	}
}

// takeNews takes the news of a death off a port, behind which messages wait.
func (e *Endpoint) takeNews(p *msg.Port) {
	op := msg.Op{Kind: msg.Recv, Peer: msg.Any}
	p.Start(&op)
}
