package coll

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"sync"

	"weft"
	"weft/extend"
	"weft/internal/agreement"
)

// A consensus runs a group's agreements: it brings messages and the news of deaths to an
// agreement.Node. It uses a channel of its own, which revoking the group does not affect. It exists
// from the group's first agreement until the Proc is closed, since members that have been left
// behind may need answers after this member has gone on.
type consensus struct {
	p       *weft.Proc
	port    *weft.Port
	channel int // of the group
	age     uint32
	members []int
	me      int

	mu      sync.Mutex // never held during a wait
	node    *agreement.Node
	pending *decision        // the decision on this member's proposal, which is not made yet
	waiting []*extend.Signal // of the calls of Agree that wait for news
	dialled []bool           // members to which a connection has been made, so that their silence is noticed
	err     error            // why it cannot go on
}

// A decision is the result of a proposal, when done.
type decision struct {
	number uint32
	done   bool
	value  agreement.Value
}

const (
	maxChannel   = 1<<16 - 1
	ownChannel   = 1 << 15 // how far the channel of the agreements is above the group's
	maxConsensus = 1 << 16 // members: the messages must be short ones
)

// A message consists of the group's generation, 8 bytes, and a message of package agreement; or, in a
// message of a rank to itself, the place of a member that is gone, 4 bytes (PROTOCOL §12).
const (
	consensusHead = 8
	noteSize      = consensusHead + 4
)

// meet returns the group's consensus, which it makes at the first call.
func (g *Group) meet() (*consensus, error) {
	g.consensusMu.Lock()
	defer g.consensusMu.Unlock()
	if g.consensus != nil {
		return g.consensus, nil
	}
	if g.channel >= ownChannel {
		return nil, &weft.ConfigError{Field: "channel of a group that agrees", Value: g.channel, Min: 0, Max: ownChannel - 1}
	}
	if g.Size() > maxConsensus {
		return nil, &weft.ConfigError{Field: "members of a group that agrees", Value: g.Size(), Min: 1, Max: maxConsensus}
	}
	port, err := g.p.OpenPort(g.channel+ownChannel, &weft.PortConfig{Service: true})
	if errors.Is(err, weft.ErrInUse) {
		return nil, fmt.Errorf("coll: a group on channel %d has agreed before, or channel %d is used for something else: %w",
			g.channel, g.channel+ownChannel, err)
	}
	if err != nil {
		return nil, err
	}
	if g.all {
		port = extend.Collective(port)
	}
	g.consensus = &consensus{
		p: g.p, port: port, channel: g.channel, age: g.age, members: g.members, me: g.me, node: agreement.New(g.Size(), g.me),
		dialled: make([]bool, g.Size()),
	}
	g.p.Go(g.consensus.serve)
	g.p.Go(g.consensus.watch)
	return g.consensus, nil
}

// agree proposes a value, and waits for the decision.
func (c *consensus) agree(ctx context.Context, flags uint64, kind uint32, doing string) (agreement.Value, error) {
	if ctx == nil {
		ctx = context.Background()
	}
	// Without this check an agreement among no other living members would succeed after Close.
	if err := extend.Of(c.port).TryRoom(c.p.Rank(), 0); errors.Is(err, weft.ErrClosed) {
		return agreement.Value{}, err
	}
	news := extend.NewSignal(c.p)
	c.await(news)
	defer c.forget(news)
	var mine *decision
	for {
		if err := ctx.Err(); err != nil {
			return agreement.Value{}, c.waited(err, doing)
		}
		done := false
		err := c.step(func() error {
			switch {
			case mine != nil && mine.done:
				done = true
			case c.err != nil:
				return c.err
			case c.node.Excluded():
				return &ExcludedError{c.channel}
			case mine == nil && c.node.Ready():
				number, _ := c.node.Decided()
				mine = &decision{number: number + 1}
				c.pending = mine
				c.node.Propose(flags, kind)
			}
			return nil
		})
		switch {
		case err != nil:
			return agreement.Value{}, err
		case done:
			return mine.value, nil
		}
		if err := news.WaitFor(ctx, fmt.Sprintf("the others, in %s of the group on channel %d", doing,
			c.channel)); err != nil {
			return agreement.Value{}, c.waited(err, doing)
		}
	}
}

// await makes step set a signal when there is news, until forget.
func (c *consensus) await(news *extend.Signal) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.waiting = append(c.waiting, news)
}

func (c *consensus) forget(news *extend.Signal) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.waiting = slices.DeleteFunc(c.waiting, func(s *extend.Signal) bool { return s == news })
}

// waited returns the error of an agreement whose context has ended.
func (c *consensus) waited(err error, doing string) error {
	var w *weft.WaitError
	if errors.As(err, &w) {
		err = w.Err
	}
	w = &weft.WaitError{Doing: fmt.Sprintf("%s of the group on channel %d", doing, c.channel), Err: err}
	c.mu.Lock()
	defer c.mu.Unlock()
	if place, ok := c.node.Awaits(); ok {
		w.Knows = fmt.Sprintf("it waits for rank %d, which may wait for others", c.members[place])
	}
	return w
}

// step changes the node by do, sends the messages that the node wants to send, and wakes the calls
// that wait if there is news.
func (c *consensus) step(do func() error) error {
	c.mu.Lock()
	err := do()
	outgoing := c.node.TakeOutgoing()
	news := c.settle()
	dial := -1
	if place, ok := c.node.Awaits(); ok && !c.dialled[place] {
		c.dialled[place] = true
		dial = c.members[place]
	}
	c.mu.Unlock()
	for _, l := range outgoing {
		b := binary.LittleEndian.AppendUint64(nil, uint64(c.age))
		// Errors do not matter: watch reports a member that is gone, and an exclusion need not arrive.
		_ = c.port.Send(context.Background(), c.members[l.To], l.Append(b, len(c.members)))
	}
	if dial >= 0 {
		c.p.Go(func() { _, _ = c.p.Connect(context.Background(), dial) })
	}
	for _, s := range news {
		s.Set()
	}
	return err
}

// settle notes what has been decided, and returns the signals of the calls that wait if there is
// news for them.
func (c *consensus) settle() []*extend.Signal {
	number, value := c.node.Decided()
	decided := c.pending != nil && c.pending.number == number
	if decided {
		c.pending.done = true
		c.pending.value = value
		c.pending = nil
	}
	if !decided && c.err == nil && !c.node.Excluded() {
		return nil
	}
	return slices.Clone(c.waiting)
}

// serve receives messages, until the port is closed.
func (c *consensus) serve() {
	for {
		m, err := c.port.Recv(context.Background())
		var gone *weft.PeerError
		if err != nil && errors.As(err, &gone) {
			continue // watch reports it, and the members that have left in good order
		}
		if err == nil {
			err = c.step(func() error { return c.take(m.From, m.Data) })
			m.Release()
		}
		if err != nil {
			_ = c.step(func() error {
				c.err = err
				return nil
			})
			return
		}
	}
}

// take handles a message of a rank.
func (c *consensus) take(from int, b []byte) error {
	place := slices.Index(c.members, from)
	switch {
	case place < 0 || len(b) < consensusHead:
		return fmt.Errorf("coll: rank %d has sent %d bytes that are not of the group on channel %d: its channel %d is "+
			"used for something else",
			from, len(b), c.channel, c.channel+ownChannel)
	case binary.LittleEndian.Uint64(b) != uint64(c.age):
		return fmt.Errorf("coll: rank %d agrees in generation %d of a group on channel %d, and this one in %d: %w",
			from, binary.LittleEndian.Uint64(b), c.channel, c.age, ErrMismatch)
	case place == c.me && len(b) == noteSize:
		c.node.Down(int(binary.LittleEndian.Uint32(b[consensusHead:])))
		return nil
	}
	m, err := agreement.Parse(b[consensusHead:], len(c.members))
	if err != nil {
		return fmt.Errorf("coll: rank %d has sent %d bytes that are not of the group on channel %d: its members differ",
			from, len(b), c.channel)
	}
	c.node.Receive(place, m)
	return nil
}

// watch reports members that have died or left, by messages of this rank to itself: they arrive
// behind the messages that those members had sent.
func (c *consensus) watch() {
	for gone := range c.p.Deaths(context.Background()) {
		place := slices.Index(c.members, gone.Rank)
		if place < 0 {
			continue
		}
		b := binary.LittleEndian.AppendUint64(nil, uint64(c.age))
		if c.port.Send(context.Background(), c.members[c.me], binary.LittleEndian.AppendUint32(b, uint32(place))) != nil {
			return
		}
	}
}
