package am

import (
	"context"

	"weft"
)

// The limits of one message.
const (
	MaxWords  = 4       // words of a request or reply
	MaxMedium = 960     // bytes of a medium payload: such a message is one packet on every transport
	MaxXfer   = 8 << 10 // bytes of a ReplyXfer, which must be sent without waiting
)

// Config shapes an endpoint. Zero values mean the defaults.
type Config struct {
	// Depth is how many requests to each rank may be unanswered, from 1 to 64, the same at all ranks; 0 means 4. A
	// rank holds room for that many requests and replies of every other rank.
	Depth int

	// Segment is the size in bytes of this rank's memory that Store, Get and ReplyXfer reach; 0 means that there is
	// none. The sizes may differ between ranks, but if one rank has a segment all have. It is a region of package
	// weft, to which every rank attaches when the endpoint is opened.
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
	*bundle
	number int
	cfg    Config
	table  []Handler

	region   *weft.Region
	memory   []byte
	segments []*weft.Remote // of the endpoints of this number, by rank

	names  []*translation // by index; nil: index i is the endpoint of this number at rank i
	tag    Tag
	events Events
}

// Stats counts what an endpoint and the others of its bundle have done.
type Stats struct {
	Requests uint64 // sent
	Replies  uint64 // sent, null replies included
	Waited   uint64 // requests that had to wait for a credit
	Late     uint64 // replies that had to wait for room: 0 while all ranks keep to the protocol
	Strange  uint64 // messages that were dropped because they break the protocol
}

// Rank returns the number of this rank, from 0.
func (e *Endpoint) Rank() int { return e.ep.Me }

// Size returns the number of ranks.
func (e *Endpoint) Size() int { return e.ep.Size }

// Segment returns this rank's memory that Store, Get and ReplyXfer reach. The slice is valid until
// Close.
func (e *Endpoint) Segment() []byte { return e.memory }

// SegmentSize returns the length in bytes of the segment of the endpoint with this number at a rank; 0 means none.
func (e *Endpoint) SegmentSize(rank int) int {
	switch {
	case rank == e.ep.Me:
		return len(e.memory)
	case e.segments == nil || uint(rank) >= uint(len(e.segments)):
		return 0
	}
	return e.segments[rank].Size()
}

// Stats returns the counts so far.
func (e *Endpoint) Stats() Stats {
	if e.ep.Enter(context.Background()) != nil {
		return e.stats
	}
	defer e.ep.Leave()
	return e.stats
}
