package pm

import (
	"context"
	"errors"
	"fmt"

	"weft"
	"weft/extend"
)

// MTU is the length of the longest message, in bytes.
const MTU = 32 << 10

// Any stands for every node, where MLock asks for which node memory is locked.
const Any = weft.Any

// Config shapes a context. Zero values mean the defaults.
type Config struct {
	// SendBuffer bounds, in bytes, the messages that are held until their receivers have accepted
	// them; 0 means the default of weft.PortConfig.
	SendBuffer int

	// RecvBuffer bounds, in bytes, the messages that have arrived and have not been given back; 0 means
	// the default of weft.PortConfig.
	RecvBuffer int

	// Flow is the flow control: weft.FlowNack is the one that PM had; 0 means weft's own.
	Flow weft.FlowControl
}

// A Context is one process's end of a PM channel, or of several channels that are used as one. At
// the same time one goroutine may send, one may receive, and one may lock, write and read memory.
type Context struct {
	parts []*part // one; several in a composite context
	route []*part // by node

	draft   weft.Draft   // the send buffer of a long message
	short   []byte       // the send buffer of a short message, which lies in out; nil if draft is used
	node    int          // the receiver of short
	sending bool         // between GetSendBuffer and Send
	sure    int          // a node to which a short message is known to find room, or -1
	out     [inline]byte // memory for a short message

	received [MaxHeld]received // a ring of the messages that Receive has returned
	oldest   int               // of these, the one that ReleaseReceiveBuffer gives back
	held     int               // how many there are
	turn     int               // the part at which receiveAny looks first

	signal *extend.Signal

	writes, reads transfers
}

// inline is the length in bytes of the longest message that is copied rather than written and read
// in place: the copy takes less time than to take the node's lock once more.
const inline = 256

// A part is one channel of a context.
type part struct {
	proc    *weft.Proc
	port    *weft.Port
	more    *extend.Port // the same port
	channel int
	number  int // the part's place in its context
	memory  *memory
}

// Open opens a context on a channel, 0 to 65531, on which all nodes that take part open one
// (pmOpenContext). Messages that other nodes send before are not lost. A nil cfg means the
// defaults. ctx counts only until Open returns.
func Open(ctx context.Context, p *weft.Proc, channel int, cfg *Config) (*Context, error) {
	var c weft.PortConfig
	if cfg != nil {
		c.SendBuffer = cfg.SendBuffer
		c.RecvBuffer = cfg.RecvBuffer
		c.Flow = cfg.Flow
	}
	port, err := p.OpenPort(channel, &c)
	if err != nil {
		return nil, err
	}
	m, err := newMemory(ctx, p, channel)
	if err != nil {
		return nil, errors.Join(err, port.Close())
	}
	l := &part{proc: p, port: port, more: extend.Of(port), channel: channel, memory: m}
	x := &Context{parts: []*part{l}, route: make([]*part, p.Size()), signal: extend.NewSignal(p), sure: -1}
	for node := range x.route {
		x.route[node] = l
	}
	return x, nil
}

// Compose makes one context of several, which are not used by themselves any more. Each of them
// reaches all nodes by a path of its own: over another channel, or over another weft.Proc with
// another transport. route returns, for each node, the index of the context by which messages go
// there; Compose calls it once for each node. Two nodes that lock memory for each other must use
// the same context for each other.
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
			return nil, fmt.Errorf("pm: context %d is of node %d of %d, context 0 of node %d of %d: they must be of the same "+
				"node",
				i, l.proc.Rank(), l.proc.Size(), first.Rank(), first.Size())
		}
		if c.sending || c.held > 0 {
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

// Self returns the number of this node, from 0 (pmGetSelf).
func (x *Context) Self() int { return x.parts[0].proc.Rank() }

// Nodes returns the number of nodes (pmGetNodeList).
func (x *Context) Nodes() int { return len(x.route) }

// to returns the part that leads to a node.
func (x *Context) to(node int) (*part, error) {
	if uint(node) >= uint(len(x.route)) {
		return nil, &weft.RankError{Rank: node, Size: len(x.route)}
	}
	return x.route[node], nil
}

// Close closes the context (pmCloseContext). It discards a send buffer that was not sent, gives
// back the messages that were received, and unlocks memory. Messages that were sent are still delivered
// while the Proc is open.
func (x *Context) Close() error {
	x.draft.Discard()
	for x.held > 0 {
		_ = x.ReleaseReceiveBuffer() // there is one
	}
	x.sending = false
	x.sure = -1
	var errs []error
	for _, l := range x.parts {
		errs = append(errs, l.memory.close(), l.port.Close())
	}
	return errors.Join(errs...)
}
