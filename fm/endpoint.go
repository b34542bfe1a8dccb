package fm

import (
	"context"

	"weft"
	"weft/internal/endpoint"
)

// The limits of messages.
const (
	Packet     = 32 << 10          // the size in bytes of a packet with its head; a message is cut into packets
	MaxMessage = 1 << 30           // the greatest length of a message, in bytes
	payload    = Packet - headSize // bytes of a message in one packet
)

// Config shapes an endpoint. Zero values mean the defaults. All ranks must use the same values.
type Config struct {
	// Packets is the size of the receive region, in packets. It is split evenly among the other
	// ranks; the share of a rank is its credits: the number of packets that it may send before this
	// rank has extracted some. 0 means 8 for each other rank; each must get at least 2 and at most
	// 128.
	Packets int
}

const (
	defaultCredits = 8
	minCredits     = 2
	maxCredits     = 128
)

// An Endpoint is one rank's end of a channel over which all ranks exchange messages. Handlers run
// in calls of Extract, Until and Barrier, and in sending calls while they wait for credits. Any
// number of goroutines may use an Endpoint.
type Endpoint struct {
	ep      *endpoint.Endpoint
	p       *weft.Proc
	table   []Handler
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
	Waited      uint64 // packets that had to wait for a credit
	Strange     uint64 // messages that were dropped because they break the protocol
}

// A peer is another rank as this one sees it.
type peer struct {
	credit int // packets that may be sent to the rank now
	owed   int // packets from the rank that have been extracted and whose credits have not been given back

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
	packets := defaultCredits * others
	if cfg != nil && cfg.Packets != 0 {
		packets = cfg.Packets
	}
	e.credits = min(packets/others, maxCredits)
	if e.credits < minCredits {
		return nil, &weft.ConfigError{Field: "fm.Config.Packets", Value: packets, Min: minCredits * others,
			Max: maxCredits * others}
	}
	for i := range e.peers {
		e.peers[i].credit = e.credits
	}
	var err error
	e.ep, err = endpoint.Open(ctx, p, channel, endpoint.Config{
		Library: "fm", Table: names(table), Params: []endpoint.Param{{Name: "Packets", Value: packets}},
		Longest: Packet, PerPeer: e.credits, Controls: 64,
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

// Credits returns how many packets a rank may send to another rank before that has extracted some.
// A handler cannot send a message of more packets.
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
