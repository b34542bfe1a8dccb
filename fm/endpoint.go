package fm

import (
	"context"

	"weft"
	"weft/internal/endpoint"
)

// The limits of messages.
const (
	Packet     = 32 << 10          // bytes of a packet with its head; a message is cut into packets
	MaxMessage = 1 << 30           // bytes
	payload    = Packet - headSize // bytes of a message in a packet
)

// Config shapes an endpoint. Zero values mean the defaults. All ranks must say the same.
type Config struct {
	// Packets is the size of the receive region in packets. It is split evenly among the
	// other ranks, and what one gets are its credits: so many packets it may send before
	// this rank has extracted some. 0 means 8 for each other rank; the least is 2, the
	// most 128.
	Packets int
}

const (
	defaultCredits = 8
	minCredits     = 2
	maxCredits     = 128
)

// An Endpoint sends messages to the endpoints that the other ranks have opened on the same
// channel, and runs handlers for theirs. Handlers run in calls of Extract, Until and
// Barrier, and in those that send while they wait for credits. Any number of goroutines
// may use an Endpoint.
type Endpoint struct {
	ep      *endpoint.Endpoint
	p       *weft.Proc
	table   []Handler
	credits int // of each pair

	peers     []peer
	suspended int       // handlers
	idle      []*worker // coroutines without a handler
	control   [headSize + maxReason]byte
	failures  []error // that nobody has been told of
	stats     Stats
}

// Stats counts what an endpoint has done.
type Stats struct {
	Messages, Packets uint64 // sent
	Extracted         uint64 // packets
	Suspensions       uint64 // of handlers, each until the next packet of its message
	Credits           uint64 // messages that only gave credits back
	Waited            uint64 // packets that had no credit at first
	Strange           uint64 // messages that were dropped because they make no sense
}

// A peer is another rank as this one sees it.
type peer struct {
	credit int // packets that may be sent to it
	owed   int // packets of its that have been extracted, of which it has not been told

	sending *endpoint.Mutex // whose message is being sent to it; nil before the first
	out     Stream
	in      Message
}

// Open opens an endpoint. All ranks call it with the same channel, table and
// configuration, and it returns when all have: if tables differ the error is a TableError
// at all ranks, which names the rank and the index. Credits are given out then, for all
// ranks are up. The channel must not be in use for anything else; nor may it be opened
// again before all ranks have closed it. A nil cfg means the defaults.
func Open(ctx context.Context, p *weft.Proc, channel int, table []Handler, cfg *Config) (*Endpoint, error) {
	e := &Endpoint{p: p, table: table, peers: make([]peer, p.Size())}
	others := max(p.Size()-1, 1)
	packets := defaultCredits * others
	if cfg != nil && cfg.Packets != 0 {
		packets = cfg.Packets
	}
	e.credits = min(packets/others, maxCredits)
	if e.credits < minCredits {
		return nil, &weft.ConfigError{Field: "fm.Config.Packets", Value: packets, Min: minCredits * others, Max: maxCredits * others}
	}
	for i := range e.peers {
		e.peers[i].credit = e.credits
	}
	var err error
	e.ep, err = endpoint.Open(ctx, p, channel, endpoint.Config{
		Library: "fm", Table: names(table), Params: []endpoint.Param{{Name: "Packets", Value: packets}},
		Longest: Packet, PerPeer: e.credits, Controls: 64,
		Runner: "weft/fm.(*Endpoint).run", Departed: e.departed,
	})
	if err != nil {
		return nil, opening(err)
	}
	return e, nil
}

// Rank returns the number of this rank (FM_nodeid).
func (e *Endpoint) Rank() int { return e.ep.Me }

// Size returns how many ranks there are (FM_numnodes).
func (e *Endpoint) Size() int { return e.ep.Size }

// Credits returns how many packets a rank may send to another one before that has extracted
// some. A message of more packets than that cannot be sent by a handler.
func (e *Endpoint) Credits() int { return e.credits }

// Stats returns the counts so far.
func (e *Endpoint) Stats() Stats {
	if e.enter(context.Background()) != nil {
		return e.stats
	}
	defer e.ep.Leave()
	return e.stats
}

// Close closes the endpoint. Calls that wait end with weft.ErrClosed, and so do handlers
// that are suspended. What others send to it afterwards nobody extracts: so all ranks call
// Barrier before they close.
func (e *Endpoint) Close() error {
	if err := e.enter(context.Background()); err != nil {
		if err == weft.ErrClosed {
			return nil
		}
		return err
	}
	defer e.ep.Leave()
	for i := range e.peers {
		e.breakOff(&e.peers[i].in, weft.ErrClosed)
	}
	for _, w := range e.idle {
		w.co.Stop()
	}
	return e.ep.Close()
}

// enter makes the endpoint the caller's, unless that is one of its own handlers.
func (e *Endpoint) enter(ctx context.Context) error {
	err := e.ep.Enter(ctx)
	if err == endpoint.ErrInHandler {
		return &RuleError{"a handler must not extract, nor wait; it sends by Message.BeginMessage"}
	}
	return err
}
