package am

import (
	"context"
	"fmt"

	"weft"
	"weft/internal/endpoint"
)

// The limits of one message.
const (
	MaxWords  = 4       // words of a request or reply
	MaxMedium = 960     // bytes of a medium payload: such a message is one packet on every transport
	MaxXfer   = 8 << 10 // bytes of a ReplyXfer, which must be sent without waiting
)

// Config shapes an endpoint. Zero values mean the defaults. All ranks must use the same values.
type Config struct {
	// Depth is how many requests to each rank may be unanswered, from 1 to 64; 0 means 4. A rank
	// holds room for that many requests and replies of every other rank.
	Depth int

	// Segment is the size in bytes of this rank's memory that Store, Get and ReplyXfer reach; 0
	// means that there is none. It is a region of package weft, to which every rank attaches when
	// the endpoint is opened.
	Segment int

	// Returned is called with each request that will not be answered, as AM-II calls handler 0. It
	// may do what a reply handler may. If it is nil, Poll, Wait and Until return these errors.
	Returned func(*ReturnedError)
}

const (
	defaultDepth = 4
	maxDepth     = 64
)

// An Endpoint is one rank's end of a channel over which all ranks exchange active messages.
// Handlers run in calls of Poll, Until, Flush and Barrier, and in sending calls while they wait for
// a credit; one at a time, whichever goroutine calls. Any number of goroutines may use an Endpoint.
type Endpoint struct {
	ep    *endpoint.Endpoint
	cfg   Config
	table []Handler

	region *weft.Region
	memory []byte

	peers []peer
	open  int    // unanswered requests to all ranks
	mask  uint32 // size of peer.asked and peer.bulk less 1: a power of two less 1

	out      [longest]byte // the message that is being sent
	req, rep Call          // what a request handler and a reply handler are given
	stats    Stats
}

// Stats counts what an endpoint has done.
type Stats struct {
	Requests uint64 // sent
	Replies  uint64 // sent, null replies included
	Waited   uint64 // requests that had to wait for a credit
	Late     uint64 // replies that had to wait for room: 0 while all ranks keep to the protocol
	Strange  uint64 // messages that were dropped because they break the protocol
}

// A peer is another rank as this one sees it.
type peer struct {
	sent, answered uint32   // requests to the rank; the difference is at most Depth
	asked          []record // the unanswered requests, by number

	replied uint32 // replies to the rank
	bulk    []xfer // the data of the latest replies, by number

	segment *weft.Remote // the rank's segment
}

// A record describes an unanswered request.
type record struct {
	handler int
	n       int // words
	words   [MaxWords]uint64
	op      *weft.Op // the data of a store, or nil
	end     func()   // of StoreAsync, or nil
}

// An xfer is the data of a ReplyXfer, which is sent ahead of the reply.
type xfer struct {
	op   *weft.Op // the write, if it has not ended at once
	copy []byte   // holds the data until it has arrived, if the segment is not mapped here
}

// Open opens an endpoint. All ranks call it with the same channel, table and configuration, and it
// returns when all have done so. If the tables or configurations differ, the error at all ranks is
// a TableError, which names the rank and the index. The channel must not be used for anything else,
// and must not be opened again before all ranks have closed it. A nil cfg means the defaults. If
// ctx ends first, or a rank is gone, all ranks get an error.
func Open(ctx context.Context, p *weft.Proc, channel int, table []Handler, cfg *Config) (*Endpoint, error) {
	e := &Endpoint{table: table, peers: make([]peer, p.Size())}
	if cfg != nil {
		e.cfg = *cfg
	}
	if e.cfg.Depth == 0 {
		e.cfg.Depth = defaultDepth
	}
	if d := e.cfg.Depth; d < 1 || d > maxDepth {
		return nil, &weft.ConfigError{Field: "am.Config.Depth", Value: d, Min: 1, Max: maxDepth}
	}
	ring := 1
	for ring < e.cfg.Depth {
		ring *= 2
	}
	e.mask = uint32(ring - 1)
	if err := e.openSegment(ctx, p, channel); err != nil {
		return nil, err
	}
	var err error
	e.ep, err = endpoint.Open(ctx, p, channel, endpoint.Config{
		Library: "am", Table: names(table),
		Params:  []endpoint.Param{{Name: "Depth", Value: e.cfg.Depth}, {Name: "Segment", Value: e.cfg.Segment}},
		Longest: longest, PerPeer: 2 * e.cfg.Depth, Controls: 64,
		Runner: "weft/am.(*Endpoint).run", Handle: e.handle, Departed: e.departed,
		InHandler: &RuleError{Rule: "a handler must not poll, nor send anything but its reply"},
		Prepare:   func() error { return e.attach(ctx, p) },
	})
	if err != nil {
		e.closeSegment()
		return nil, err
	}
	e.req.e = e
	e.rep.e = e
	e.rep.isReply = true
	return e, nil
}

// openSegment exposes the memory of this rank.
func (e *Endpoint) openSegment(ctx context.Context, p *weft.Proc, channel int) (err error) {
	if e.cfg.Segment == 0 {
		return nil
	}
	e.region, err = p.OpenRegion(ctx, fmt.Sprintf("am: segment of channel %d", channel), e.cfg.Segment, nil)
	if err == nil {
		e.memory = e.region.Bytes()[:e.cfg.Segment]
	}
	return err
}

func (e *Endpoint) closeSegment() {
	if e.region != nil {
		e.region.Close()
	}
}

// attach attaches to the segments of all other ranks. It does so when the endpoint is opened,
// because a reply must not wait for it.
func (e *Endpoint) attach(ctx context.Context, p *weft.Proc) (err error) {
	if e.region == nil {
		return nil
	}
	for rank := range e.peers {
		if rank != p.Rank() && err == nil {
			e.peers[rank].segment, err = e.region.At(ctx, rank)
		}
	}
	return err
}

// Rank returns the number of this rank, from 0.
func (e *Endpoint) Rank() int { return e.ep.Me }

// Size returns the number of ranks.
func (e *Endpoint) Size() int { return e.ep.Size }

// Segment returns this rank's memory that Store, Get and ReplyXfer reach. The slice is valid until
// Close.
func (e *Endpoint) Segment() []byte { return e.memory }

// Stats returns the counts so far.
func (e *Endpoint) Stats() Stats {
	if e.ep.Enter(context.Background()) != nil {
		return e.stats
	}
	defer e.ep.Leave()
	return e.stats
}

// Close closes the endpoint. Calls that wait end with weft.ErrClosed. Requests that other ranks
// send afterwards are returned to them when this rank leaves the job. Therefore all ranks call
// Barrier before they close.
func (e *Endpoint) Close() error {
	return e.ep.Close(func() {
		for i := range e.peers {
			e.forget(&e.peers[i])
		}
		e.closeSegment()
	})
}
