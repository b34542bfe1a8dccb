package pm

import (
	"context"
	"errors"
	"fmt"

	"weft"
)

// MTU is the longest message in bytes.
const MTU = 32 << 10

// Any stands for every node where MLock wants to know whom a piece of memory is locked for.
const Any = weft.Any

// Config shapes a context. Zero values mean the defaults.
type Config struct {
	// SendBuffer bounds, in bytes, the messages held until their receivers have accepted them, and RecvBuffer
	// those that have arrived and have not been given back: see weft.PortConfig.
	SendBuffer, RecvBuffer int
}

// A Context is this process's end of a PM channel, or of several that are used as one. One goroutine at a time
// may send, one may receive, and one may lock, write and read memory, at the same time as each other.
type Context struct {
	parts []*part // one, or those of a composite context
	route []*part // by node

	draft   weft.Draft // from GetSendBuffer until Send
	sending bool
	node    int          // to which it goes, if it is in short
	short   []byte       // a part of out; nil: it is in draft
	sure    int          // a short message to this node will find room; -1: to none
	out, in [inline]byte // short messages

	message   weft.Message // from Receive until ReleaseReceiveBuffer
	receiving bool
	turn      int // the part to look at first

	signal *weft.Signal

	writes, reads transfers
}

// inline is the longest message in bytes that is copied on its way rather than written and read in place: a copy costs less
// than to take the node's lock once more.
const inline = 256

// A part is a channel of a context.
type part struct {
	proc    *weft.Proc
	port    *weft.Port
	channel int
	number  int // in its context
	memory  *memory
}

// Open opens a channel, 0 to 65535, of which all nodes that take part open a context: pmOpenContext. Messages
// that were sent before are not lost.
func Open(ctx context.Context, p *weft.Proc, channel int, cfg *Config) (*Context, error) {
	var c weft.PortConfig
	if cfg != nil {
		c.SendBuffer, c.RecvBuffer = cfg.SendBuffer, cfg.RecvBuffer
	}
	port, err := p.OpenPort(channel, &c)
	if err != nil {
		return nil, err
	}
	m, err := newMemory(ctx, p, channel)
	if err != nil {
		return nil, errors.Join(err, port.Close())
	}
	l := &part{proc: p, port: port, channel: channel, memory: m}
	x := &Context{parts: []*part{l}, route: make([]*part, p.Size()), signal: p.Signal(), sure: -1}
	for node := range x.route {
		x.route[node] = l
	}
	return x, nil
}

// Compose makes one context of several, each of which reaches all nodes in a way of its own: over another
// channel, or of another weft.Proc, which may use another transport. To each node it goes by the context whose
// index route returns; it is asked once for every node, and two nodes must go the same way to each other if they
// lock memory for each other. The contexts are no longer used by themselves.
func Compose(route func(node int) int, contexts ...*Context) (*Context, error) {
	if len(contexts) == 0 {
		return nil, fmt.Errorf("pm: a composite context needs at least one context")
	}
	first := contexts[0].parts[0].proc
	x := &Context{signal: contexts[0].signal, sure: -1, route: make([]*part, first.Size())}
	for i, c := range contexts {
		if len(c.parts) != 1 {
			return nil, fmt.Errorf("pm: context %d is a composite itself", i)
		}
		l := c.parts[0]
		if l.proc.Rank() != first.Rank() || l.proc.Size() != first.Size() {
			return nil, fmt.Errorf("pm: context %d is of node %d of %d, context 0 of node %d of %d: they must be of the same node",
				i, l.proc.Rank(), l.proc.Size(), first.Rank(), first.Size())
		}
		if c.sending || c.receiving {
			return nil, fmt.Errorf("pm: context %d: %w", i, &BusyError{"Compose", "its buffers have been sent or given back"})
		}
		l.number = i
		x.parts = append(x.parts, l)
	}
	for node := range x.route {
		i := route(node)
		if i < 0 || i >= len(x.parts) {
			return nil, fmt.Errorf("pm: the route to node %d is context %d: there are contexts 0 to %d", node, i, len(x.parts)-1)
		}
		x.route[node] = x.parts[i]
	}
	return x, nil
}

// Self returns the number of this node, and Nodes how many there are: pmGetSelf, pmGetNodeList.
func (x *Context) Self() int { return x.parts[0].proc.Rank() }

// Nodes returns the number of nodes, which are numbered from 0.
func (x *Context) Nodes() int { return len(x.route) }

// to returns the way to a node.
func (x *Context) to(node int) (*part, error) {
	if uint(node) >= uint(len(x.route)) {
		return nil, &weft.RankError{Rank: node, Size: len(x.route)}
	}
	return x.route[node], nil
}

// Close closes the context: pmCloseContext. A buffer that was not sent is given up, one that was received is
// given back, and memory is unlocked. What was sent goes on to its receivers as long as the Proc is open.
func (x *Context) Close() error {
	x.draft.Discard()
	x.message.Release()
	x.sending, x.receiving, x.sure = false, false, -1
	var errs []error
	for _, l := range x.parts {
		errs = append(errs, l.memory.close(), l.port.Close())
	}
	return errors.Join(errs...)
}
