package am

import (
	"context"
	"fmt"

	"weft"
	"weft/internal/endpoint"
)

// A bundle is the endpoints of one rank that share a channel: one of them waits, polls and is closed for all.
type bundle struct {
	ep    *endpoint.Endpoint
	depth int
	ends  []*Endpoint // by number
	peers []peer
	open  int    // unanswered requests to all ranks
	mask  uint32 // size of peer.asked and peer.bulk less 1: a power of two less 1

	out      [longest]byte // the message that is being sent
	req, rep Call          // what a request handler and a reply handler are given
	peek     Call          // a message that is looked at
	passed   []passed      // messages that Wait has passed over, the oldest first
	behind   bool          // a message that was passed is handled
	stats    Stats
}

// A peer is another rank as this one sees it.
type peer struct {
	sent, answered uint32   // requests to the rank; the difference is at most Depth
	asked          []record // the unanswered requests, by number

	replied uint32 // replies to the rank
	bulk    []xfer // the data of the latest replies, by number
}

// A record describes an unanswered request.
type record struct {
	from    *Endpoint
	name    *translation // under which it was sent, or nil
	call    CallKind
	to      int // the number of the endpoint
	handler int
	n       int // words
	words   [MaxWords]uint64
	message []byte   // holds the message of a medium request
	data    []byte   // of a medium request, in message; or what the program has given to a store
	place   place    // in the other rank's segment, of a store or a get
	op      *weft.Op // the data of a store, or nil
	end     func()   // of StoreAsync, or nil
}

// An xfer is the data of a ReplyXfer, which is sent ahead of the reply.
type xfer struct {
	op   *weft.Op // the write, if it has not ended at once
	copy []byte   // holds the data until it has arrived, if the segment is not mapped here
}

// A Spec describes one endpoint of a bundle.
type Spec struct {
	Table  []Handler
	Config Config // its Depth is that of the bundle in the first Spec, and has no meaning in the others
}

// maxEndpoints is how many endpoints share a bundle at most: a word has a bit for each.
const maxEndpoints = 64

// Open opens an endpoint. All ranks call it with the same channel, table and Depth, and it returns when all have done
// so. If they differ, the error at all ranks is a TableError, which names the rank and the index. The channel must
// not be used for anything else, and must not be opened again before all ranks have closed it. A nil cfg means the
// defaults. If ctx ends first, or a rank is gone, all ranks get an error.
func Open(ctx context.Context, p *weft.Proc, channel int, table []Handler, cfg *Config) (*Endpoint, error) {
	s := Spec{Table: table}
	if cfg != nil {
		s.Config = *cfg
	}
	ends, err := OpenBundle(ctx, p, channel, s)
	if err != nil {
		return nil, err
	}
	return ends[0], nil
}

// OpenBundle is Open of up to 64 endpoints that share the channel, the credits and the memory for messages: Poll, Wait,
// Until, Flush, Barrier and Close of one of them are those of all. The endpoints of a rank are numbered in the order
// of their specs. The Index of a TableError counts through the tables of all.
func OpenBundle(ctx context.Context, p *weft.Proc, channel int, specs ...Spec) ([]*Endpoint, error) {
	if n := len(specs); n < 1 || n > maxEndpoints {
		return nil, &weft.ConfigError{Field: "number of endpoints of a bundle", Value: n, Min: 1, Max: maxEndpoints}
	}
	b := &bundle{depth: specs[0].Config.Depth, peers: make([]peer, p.Size())}
	if b.depth == 0 {
		b.depth = defaultDepth
	}
	if d := b.depth; d < 1 || d > maxDepth {
		return nil, &weft.ConfigError{Field: "am.Config.Depth", Value: d, Min: 1, Max: maxDepth}
	}
	ring := 1
	for ring < b.depth {
		ring *= 2
	}
	b.mask = uint32(ring - 1)
	var table []string
	segments := uint64(0)
	for i, s := range specs {
		b.ends = append(b.ends, &Endpoint{bundle: b, number: i, cfg: s.Config, table: s.Table})
		table = append(table, names(i, s.Table)...)
		if s.Config.Segment != 0 {
			segments |= 1 << i
		}
	}
	err := b.openSegments(ctx, p, channel)
	if err == nil {
		b.ep, err = endpoint.Open(ctx, p, channel, endpoint.Config{
			Library: "am", Table: table,
			Params: []endpoint.Param{{Name: "Depth", Value: b.depth}, {Name: "number of endpoints", Value: len(specs)},
				{Name: "segments, a bit for each endpoint:", Value: int(segments)}},
			Longest: longest, PerPeer: 2 * b.depth, Controls: 64,
			Runner: "weft/am.(*Endpoint).run", Handle: b.handle, Departed: b.departed,
			InHandler: &RuleError{Rule: "a handler must not poll, nor send anything but its reply"},
			Prepare:   func() error { return b.attach(ctx, p) },
		})
	}
	if err != nil {
		b.closeSegments()
		return nil, err
	}
	b.rep.isReply = true
	return b.ends, nil
}

// openSegments exposes the memory of this rank's endpoints.
func (b *bundle) openSegments(ctx context.Context, p *weft.Proc, channel int) (err error) {
	for _, e := range b.ends {
		if e.cfg.Segment == 0 {
			continue
		}
		name := fmt.Sprintf("am: segment of channel %d", channel)
		if e.number > 0 {
			name += fmt.Sprintf(", endpoint %d", e.number)
		}
		if e.region, err = p.OpenRegion(ctx, name, e.cfg.Segment, nil); err != nil {
			return err
		}
		e.memory = e.region.Bytes()
	}
	return nil
}

func (b *bundle) closeSegments() {
	for _, e := range b.ends {
		if e.region != nil {
			e.region.Close()
		}
	}
}

// attach attaches to the segments of all other ranks. It does so when the bundle is opened, because a reply must not
// wait for it.
func (b *bundle) attach(ctx context.Context, p *weft.Proc) (err error) {
	for _, e := range b.ends {
		if e.region == nil {
			continue
		}
		e.segments = make([]*weft.Remote, p.Size())
		for rank := range e.segments {
			if rank == p.Rank() {
				continue
			}
			if e.segments[rank], err = e.region.At(ctx, rank); err != nil {
				return err
			}
		}
	}
	return nil
}

// Close closes the endpoint, and all others of its bundle. Calls that wait end with weft.ErrClosed. Requests that
// other ranks send afterwards are returned to them when this rank leaves the job. Therefore all ranks call Barrier
// before they close.
func (e *Endpoint) Close() error {
	return e.ep.Close(func() {
		for i := range e.peers {
			e.forget(&e.peers[i])
		}
		e.closeSegments()
	})
}
