package pm

import (
	"context"
	"errors"

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

// A Context is one process's end of a PM channel. At the same time one goroutine may send, one may receive, and one
// may lock, write and read memory.
type Context struct {
	proc   *weft.Proc
	port   *weft.Port
	more   *extend.Port // the same port
	memory *memory

	draft   weft.Draft   // the send buffer of a long message
	short   []byte       // the send buffer of a short message, which lies in out; nil if draft is used
	node    int          // the receiver of short
	sending bool         // between GetSendBuffer and Send
	sure    int          // a node to which a short message is known to find room, or -1
	out     [inline]byte // memory for a short message

	received [MaxHeld]received // a ring of the messages that Receive has returned
	oldest   int               // of these, the one that ReleaseReceiveBuffer gives back
	held     int               // how many there are

	signal *extend.Signal

	writes, reads transfers
}

// inline is the length in bytes of the longest message that is copied rather than written and read
// in place: the copy takes less time than to take the node's lock once more.
const inline = 256

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
	return &Context{
		proc: p, port: port, more: extend.Of(port), memory: m, signal: extend.NewSignal(p), sure: -1,
	}, nil
}

// Self returns the number of this node, from 0 (pmGetSelf).
func (x *Context) Self() int { return x.proc.Rank() }

// Nodes returns the number of nodes (pmGetNodeList).
func (x *Context) Nodes() int { return x.proc.Size() }

// check returns an error unless there is such a node.
func (x *Context) check(node int) error {
	if uint(node) >= uint(x.proc.Size()) {
		return &weft.RankError{Rank: node, Size: x.proc.Size()}
	}
	return nil
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
	return errors.Join(x.memory.close(), x.port.Close())
}
