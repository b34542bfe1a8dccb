package msg

import (
	"time"

	"weft/failure"
	"weft/internal/engine/link"
	"weft/internal/engine/list"
	"weft/internal/monotime"
)

// A pair is one peer as a port sees it, in both directions.
type pair struct {
	port *Port
	rank int
	q    *link.Queue

	// Sending: base <= sent <= next, in serial arithmetic.
	base      uint32  // oldest message not acknowledged
	sent      uint32  // next message to transmit; those from here to next are held
	next      uint32  // number of the next message
	entries   []entry // a ring indexed by number, as long as a power of two
	queued    int     // bytes in entries
	extra     int     // bytes of the send buffer that it may have beyond its half
	inFlight  int     // bytes in entries from base to sent
	credit    int     // room at the receiver when it last said
	reach     reach
	listed    bool   // in port.unasked
	asked     uint32 // an acknowledgement was asked for of everything before this
	urged     uint32 // and of everything before this by ACKREQ: the answer wakes us
	askBytes  int    // bytes transmitted since asked
	flow      flow
	refusedAt uint32        // the message that was refused last
	backoff   int64         // ns
	resendAt  monotime.Time // of a pair that is backing off
	waiting   list.List[Op] // sends that found no room
	flushes   []flush
	denied    *failure.ChannelError // why nothing may be sent to it, or nil
	dropped   bool                  // it has dropped messages, and no Flush has said so

	// Receiving.
	barred   bool // its messages are dropped
	standing standing
	room     int    // bytes that a GO would promise, or that are kept for a sender that was called
	turn     uint64 // its place in port.owed, which it keeps until its message has a place
	expected uint32
	since    int    // bytes that have come since the receive buffer grew
	told     uint32 // the last acknowledgement sent
	arrived  list.List[Block]
	partial  *Block // message of which a part has arrived
	into     *Op    // or the operation that takes it directly
	total    int
	got      int

	spread bool // it knows that the channel has been revoked
}

// known returns the state of a peer, or nil if none has been needed.
func (p *Port) known(rank int) *pair {
	if d := p.lastPair; d != nil && d.rank == rank {
		return d
	}
	return p.pairs[rank]
}

// pair returns the state of a peer, which is made when first needed.
func (p *Port) pair(rank int) *pair {
	d := p.known(rank)
	if d == nil {
		d = &pair{port: p, rank: rank, q: p.layer.queue(rank), entries: make([]entry, 1),
			credit: p.rule.room(firstCredit)}
		p.pairs[rank] = d
		p.permit(d)
	}
	p.lastPair = d
	return d
}

// A reach is up to which length messages go to a peer unasked, by its last acknowledgement.
type reach uint8

const (
	unheard reach = iota // it has not said so far
	near                 // up to MaxEager
	far                  // up to MaxFar, and on a long path up to MaxUnasked
)

// A flow is how messages go to a peer. (PROTOCOL §3.1)
//
//	event                                          from         to
//	NACK that announces a GO                       any          held
//	NACK that announces none                       any          backingOff; due, if the port is frozen
//	GO for refusedAt                               not flowing  held, sent again; due, if the port is frozen
//	resendAt has come                              backingOff   held, sent again
//	the port is frozen                             backingOff   due
//	the port is thawed                             due          held, sent again
//	refusedAt is acknowledged, or nothing is kept  any          flowing
//
// What was refused is sent again with all that was transmitted after it. New messages wait until the flow is flowing.
type flow uint8

const (
	flowing    flow = iota
	held            // the receiver says GO, or what was refused is on its way again
	backingOff      // what was refused is sent again at resendAt
	due             // what was refused is sent again when the port is thawed
)

// becomeFlowing ends a refusal.
func (d *pair) becomeFlowing() {
	d.leaveBackoff()
	d.flow = flowing
	d.backoff = 0
}

// becomeHeld makes the pair wait for its receiver.
func (d *pair) becomeHeld() {
	d.leaveBackoff()
	d.flow = held
}

// becomeBackingOff makes the pair wait for a time, twice as long as the last time, up to what its rule says.
func (d *pair) becomeBackingOff(now monotime.Time) {
	l := d.port.layer
	d.backoff = min(max(2*d.backoff, int64(minBackoff)), int64(d.port.rule.most))
	if d.flow != backingOff {
		l.waiting = append(l.waiting, d)
	}
	d.flow = backingOff
	d.resendAt = now.Add(time.Duration(d.backoff))
	l.timed = true
}

// becomeDue makes the pair wait until its port is thawed.
func (d *pair) becomeDue() {
	d.leaveBackoff()
	d.flow = due
}

// leaveBackoff stops the timer of a pair that is backing off.
func (d *pair) leaveBackoff() {
	if d.flow == backingOff {
		d.port.layer.stopTimer(d)
	}
}

// A standing is how a sender stands at this port. (PROTOCOL §3.1)
//
//	event                               from             to
//	its message is refused              any              owed; late, if the port's flow control calls nobody
//	the announcement of a long message  any              owedLong; late, likewise
//	is refused
//	GO is sent                          owed, owedLong   called
//	its message has a place             not welcome      late
//	its message is acknowledged         late             welcome
//
// A sender is in port.owed exactly while it is owed or owedLong.
type standing uint8

const (
	welcome  standing = iota
	late              // it was refused, and holds all messages until it has an acknowledgement, which is urgent
	owed              // it was refused and has been promised a GO
	owedLong          // the same, and what was refused is the announcement of a long message
	called            // it was told to come, and room bytes are kept for it
)

// waits reports whether a sender that was refused has no place for its message so far.
func (s standing) waits() bool { return s > late }

// isOwed reports whether the sender waits for a GO.
func (s standing) isOwed() bool { return s == owed || s == owedLong }

// An entry is one message that has not been acknowledged.
type entry struct {
	block *Block // nil: a long message, announced by offer
	offer *Offer
	after uint32 // the last operation on the peer's memory that it must not overtake
}

// A flush waits for one pair to be drained up to a number.
type flush struct {
	op    *Op
	until uint32
}
