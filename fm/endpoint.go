package fm

import (
	"cmp"
	"context"

	"weft"
	"weft/internal/endpoint"
)

// MaxMessage is the greatest length of a message, in bytes.
const MaxMessage = 1 << 30

// Config shapes an endpoint. Zero values mean the defaults. All ranks must use the same values.
type Config struct {
	// Packet is the size of a packet in bytes, with its head of 16 bytes. SendPiece holds back less
	// than a packet, so a handler begins when the first Packet bytes have been sent. A long piece
	// goes in larger packets, of 2, 4 or 8 times the size and up to 32 KiB, which take as many
	// credits. 0 means 4 KiB; the least is 256, the most 32 KiB.
	Packet int

	// Packets is the size of the receive region, in packets. It is split evenly among the other
	// ranks; the share of a rank is its credits: the number of packets that it may send before this
	// rank has extracted some. 0 means 256 KiB for each other rank; each must get at least 2 packets
	// and at most 1024.
	Packets int
}

const (
	defaultPacket = 4 << 10   // bytes
	minPacket     = 256       // bytes
	largest       = 32 << 10  // bytes of a packet that a long piece goes in
	defaultShare  = 256 << 10 // bytes of the receive region for each other rank
	minCredits    = 2
	maxCredits    = 1024
)

// An Endpoint is one rank's end of a channel over which all ranks exchange messages. Handlers run
// in calls of Extract, Until and Barrier, and in sending calls while they wait for credits. Any
// number of goroutines may use an Endpoint.
type Endpoint struct {
	ep      *endpoint.Endpoint
	p       *weft.Proc
	table   []Handler
	unit    int // Config.Packet, in bytes; a packet of more takes several credits
	most    int // credits that a packet takes at most
	credits int // of each rank at each other rank

	peers   []peer
	idle    []*worker                  // coroutines without a handler
	control [headSize + maxReason]byte // a message that takes no credit, while it is sent
	stats   Stats
}

// Stats counts what an endpoint has done.
type Stats struct {
	Messages    uint64 // sent
	Packets     uint64 // sent
	Extracted   uint64 // packets extracted
	Suspensions uint64 // how often a handler was suspended until the next packet of its message
	Credits     uint64 // messages sent only to give credits back
	Waited      uint64 // packets that had to wait for credits
	Strange     uint64 // messages that were dropped because they break the protocol
}

// A peer is another rank as this one sees it.
type peer struct {
	credit int // packets that may be sent to the rank now
	owed   int // credits of packets from the rank that have been extracted, not given back yet

	sending *endpoint.Mutex // held while a message is being sent to the rank; nil before the first
	out     Stream
	in      Message
}

// Open opens an endpoint. All ranks call it with the same channel, table and configuration, and it
// returns when all have done so. If the tables or configurations differ, the error at all ranks is
// a TableError, which names the rank and the index. The channel must not be used for anything else,
// and must not be opened again before all ranks have closed it. A nil cfg means the defaults. If
// ctx ends first, or a rank is gone, all ranks get an error.
func Open(ctx context.Context, p *weft.Proc, channel int, table []Handler, cfg *Config) (*Endpoint, error) {
	e := &Endpoint{p: p, table: table, peers: make([]peer, p.Size())}
	others := max(p.Size()-1, 1)
	if cfg == nil {
		cfg = &Config{}
	}
	e.unit = cmp.Or(cfg.Packet, defaultPacket)
	if e.unit < minPacket || e.unit > largest {
		return nil, &weft.ConfigError{Field: "fm.Config.Packet", Value: e.unit, Min: minPacket, Max: largest}
	}
	packets := cmp.Or(cfg.Packets, defaultShare/e.unit*others)
	e.credits = min(packets/others, maxCredits)
	if e.credits < minCredits {
		return nil, &weft.ConfigError{Field: "fm.Config.Packets", Value: packets, Min: minCredits * others,
			Max: maxCredits * others}
	}
	// Half of the credits come back without a packet in the other direction. A packet that takes no
	// more than half of them therefore never waits for ever.
	for e.most = 1; 4*e.most <= e.credits && 2*e.most*e.unit <= largest; {
		e.most *= 2
	}
	for i := range e.peers {
		e.peers[i].credit = e.credits
	}
	params := []endpoint.Param{{Name: "Packet", Value: e.unit}, {Name: "Packets", Value: packets}}
	var err error
	e.ep, err = endpoint.Open(ctx, p, channel, endpoint.Config{
		Library: "fm", Table: names(table), Params: params,
		Longest: e.most * e.unit, PerPeer: (e.credits + e.most - 1) / e.most, Controls: 64,
		Runner: "weft/fm.(*Endpoint).run", Handle: func() { e.handle() }, Departed: e.departed,
		InHandler: &RuleError{"a handler must not extract, nor wait; it sends by Message.BeginMessage"},
	})
	if err != nil {
		return nil, err
	}
	return e, nil
}

// Rank returns the number of this rank, from 0 (FM_nodeid).
func (e *Endpoint) Rank() int { return e.ep.Me }

// Size returns the number of ranks (FM_numnodes).
func (e *Endpoint) Size() int { return e.ep.Size }

// Credits returns how many packets of Config.Packet bytes a rank may send to another rank before that
// has extracted some. A handler cannot send a message of more packets.
func (e *Endpoint) Credits() int { return e.credits }

// Stats returns the counts so far.
func (e *Endpoint) Stats() Stats {
	if e.ep.Enter(context.Background()) != nil {
		return e.stats
	}
	defer e.ep.Leave()
	return e.stats
}

// Close closes the endpoint. Calls that wait, and handlers that are suspended, end with
// weft.ErrClosed. Messages that others send afterwards are not handled. Therefore all ranks call
// Barrier before they close.
func (e *Endpoint) Close() error {
	return e.ep.Close(func() {
		for i := range e.peers {
			e.breakOff(&e.peers[i].in, weft.ErrClosed)
		}
		for _, w := range e.idle {
			w.co.Stop()
		}
	})
}
