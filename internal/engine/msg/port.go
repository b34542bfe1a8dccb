package msg

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"weft/failure"
	"weft/internal/engine/list"
)

// Config shapes a port. Zero values mean the defaults.
type Config struct {
	RecvBuffer int // bytes, at least 64 KiB; default 1 MiB, and more on a long path: see stretch.go
	SendBuffer int // likewise
	MaxMessage int // bytes; default 1 GiB
	Flow       FlowControl
	Service    bool // of a library: what is sent is urgent, and no loss if a peer leaves before it has accepted it

	Sources, Destinations []int // ranks; nil means all. See permit.go
}

// window is how many messages a sender may have unacknowledged at one receiver.
const window = 256

// firstCredit is the room in bytes that a sender assumes at a receiver that has said nothing so far.
const firstCredit = 1 << 18

// A Port is one process's end of a channel.
type Port struct {
	layer   *Layer
	channel uint16
	cfg     Config
	rule    *rule // of cfg.Flow
	grows   growth
	open    bool
	retired bool                  // listed in layer.closed
	revoked *failure.RevokedError // the channel is over for good; see revoke.go

	pairs    map[int]*pair
	lastPair *pair // the pair used last

	// Sending.
	send    pool
	offers  []*Offer // memory for announcements; see newOffer
	starved []*pair  // pairs with operations that wait for room in send, in order
	alone   bool     // no goroutine waits for one of these operations
	unacked int      // messages that have not been acknowledged
	unasked []*pair  // pairs that have transmitted since an acknowledgement was asked for

	freezing freezing // see fence.go

	// Receiving.
	recv     pool
	promised int              // bytes of recv that senders were told to come for
	owed     []*pair          // senders that are owed a GO, in the order of their turns
	turns    uint64           // that have been given to senders that were refused
	invited  *pair            // called for a posted receive, which needs no room
	arrived  list.List[Block] // messages not yet received
	posted   list.List[Op]    // receives not yet served
	offered  []*Op            // receives whose callers have a long message to fetch
	awaiting list.List[Op]    // operations that wait until there is something to receive
}

// less compares sequence numbers, which wrap.
func less(a, b uint32) bool { return int32(a-b) < 0 }

// withDefaults returns the configuration with every field set, or what is
// wrong with it.
func (c Config) withDefaults() (Config, error) {
	for _, f := range []struct {
		name          string
		value         *int
		def, min, max int
	}{
		{"RecvBuffer", &c.RecvBuffer, 1 << 20, 2 * MaxEager, 1 << 31},
		{"SendBuffer", &c.SendBuffer, 1 << 20, 2 * MaxEager, 1 << 31},
		{"MaxMessage", &c.MaxMessage, 1 << 30, 1, 1 << 40},
	} {
		if *f.value == 0 {
			*f.value = f.def
		}
		if *f.value < f.min || *f.value > f.max {
			return c, &failure.ConfigError{Field: f.name, Value: *f.value, Min: f.min, Max: f.max}
		}
	}
	if last := FlowControl(len(rules) - 1); c.Flow > last {
		return c, &failure.ConfigError{Field: "Flow", Value: int(c.Flow), Max: int(last)}
	}
	return c, nil
}

// newPort returns a port that is not open: it has no receive buffer.
func (l *Layer) newPort(channel uint16) *Port {
	p := &Port{layer: l, channel: channel, rule: &rules[FlowRoom], pairs: map[int]*pair{}}
	l.ports[channel] = p
	return p
}

// Open opens a channel. Senders that came too early are asked to send again.
func (l *Layer) Open(channel uint16, cfg Config) (*Port, error) {
	grows := growth{cfg.SendBuffer == 0, cfg.RecvBuffer == 0}
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	p := l.find(channel)
	switch {
	case p == nil:
		p = l.newPort(channel)
	case p.revoked != nil && p.early():
		l.early--
		p.cfg = cfg
		return p, nil // the group ended before this rank came: the first operation says so
	case p.revoked != nil:
		return nil, p.revoked
	case p.open:
		return nil, fmt.Errorf("weft: channel %d is already open: %w", channel, failure.ErrInUse)
	case p.early():
		l.early--
	}
	p.cfg = cfg
	p.rule = &rules[cfg.Flow]
	p.open = true
	p.grows = grows
	p.send.limit = cfg.SendBuffer
	p.recv.limit = cfg.RecvBuffer
	for _, rank := range sortedKeys(p.pairs) {
		d := p.pairs[rank]
		d.extra = 0
		d.credit = p.rule.room(min(d.credit, firstCredit))
		p.permit(d)
	}
	for _, rank := range sortedKeys(l.gone) {
		if l.Silent(rank, channel) {
			p.deathNotice(rank, l.gone[rank])
		}
	}
	p.serveOwed()
	l.putAway()
	return p, nil
}

// MaxMessage returns the longest message in bytes. It does not change while the
// port is open.
func (p *Port) MaxMessage() int { return p.cfg.MaxMessage }

// early reports whether the port has never been opened.
func (p *Port) early() bool { return p.cfg.RecvBuffer == 0 }

// sortedKeys returns the ranks in a map in order: no map's order may reach
// what an engine does.
func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K {
	return slices.Sorted(maps.Keys(m))
}

// Rest gives back memory that is held for messages to a peer, if there are none.
func (l *Layer) Rest(rank int) {
	for _, p := range l.ports {
		d := p.pairs[rank]
		if d == nil || d.base != d.next {
			continue
		}
		p.narrow(d)
		if len(d.entries) > 1 {
			d.entries = make([]entry, 1)
		}
	}
}

// MemoryBytes returns what the buffers of all ports hold.
func (l *Layer) MemoryBytes() int {
	sum := 0
	for _, p := range l.ports {
		sum += p.send.held + p.recv.held
	}
	return sum
}

// Close ends the pending operations with the error that Closed returns then. Messages that have arrived and have not
// been received are lost. Later ones are refused until the channel is opened again. Messages that were sent are kept
// until they are acknowledged, since the numbering goes on if the channel is opened again.
func (p *Port) Close() {
	n := p.layer
	p.open = false
	why := p.Closed()
	p.endFreeze(why)
	if p.freezing.frozen && p.revoked == nil {
		p.thaw()
	}
	p.recv.limit = 0
	for _, rank := range sortedKeys(p.pairs) {
		d := p.pairs[rank]
		p.failSends(d, why)
		if d.partial != nil || d.into != nil {
			p.dropPartial(d)
			if p.revoked == nil {
				p.refuse(d, d.total, owed) // so that it is sent again from the start
			}
		}
	}
	for !p.posted.Empty() {
		n.finish(p.posted.Pop(), why)
	}
	for !p.awaiting.Empty() {
		n.finish(p.awaiting.Pop(), why)
	}
	for b := p.arrived.First(); b != nil; b = p.arrived.First() {
		if b.kind == announced {
			p.turnAway(b.offer)
		}
		p.take(b)
		p.recv.put(b)
	}
	for _, op := range takeAll(&n.fetching, func(op *Op) bool { return op.port == p }) {
		p.turnAway(op.Offer)
		n.finish(op, why)
	}
	n.retire(p)
	n.putAway()
}

// Channel returns the port's channel.
func (p *Port) Channel() uint16 { return p.channel }

// Service reports whether a library serves the port: see Config.
func (p *Port) Service() bool { return p.cfg.Service }
