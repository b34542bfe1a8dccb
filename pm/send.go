package pm

import (
	"context"

	"weft"
)

// GetSendBuffer returns a buffer of n bytes, 1 to MTU, for a message to a node (pmGetSendBuffer).
// Its content is undefined. The buffer belongs to the caller until Send or Discard; until then
// another GetSendBuffer is a BusyError. If there is no room the error is weft.ErrWouldBlock
// (ENOBUFS): the program receives and tries again, since the nodes for which it waits may be
// waiting for room here.
func (x *Context) GetSendBuffer(node, n int) ([]byte, error) {
	if x.sending {
		return nil, errSending
	}
	l, err := x.to(node)
	if err != nil {
		return nil, err
	}
	if n < 1 || n > MTU {
		return nil, &weft.ConfigError{Field: "length of the send buffer", Value: n, Min: 1, Max: MTU}
	}
	if n <= inline {
		return x.shortBuffer(l, node, n)
	}
	x.draft, err = l.port.TryReserve(node, n)
	if err != nil {
		return nil, err
	}
	x.sending = true
	return x.draft.Data, nil
}

// Truncate shortens the buffer that GetSendBuffer has returned: Send sends its first n bytes
// (pmTruncateBuffer).
func (x *Context) Truncate(n int) error {
	if !x.sending {
		return errNoBuffer
	}
	buf := &x.draft.Data
	if x.short != nil {
		buf = &x.short
	}
	if n < 1 || n > len(*buf) {
		return &weft.ConfigError{Field: "truncated length of the send buffer", Value: n, Min: 1, Max: len(*buf)}
	}
	*buf = (*buf)[:n]
	return nil
}

// Send sends the buffer that GetSendBuffer has returned (pmSend). It never waits.
func (x *Context) Send() error {
	if !x.sending {
		return errNoBuffer
	}
	x.sending = false
	if x.short != nil {
		return x.sendShort()
	}
	x.sure = -1
	return x.draft.Commit(context.Background())
}

// shortBuffer returns a buffer in memory of the context for a short message, if there is room to
// send it.
func (x *Context) shortBuffer(l *part, node, n int) ([]byte, error) {
	if x.sure != node {
		if err := l.more.TryRoom(node, inline); err != nil {
			return nil, err
		}
		x.sure = node
	}
	x.node = node
	x.short = x.out[:n]
	x.sending = true
	return x.short, nil
}

// sendShort sends a short message, and finds out whether there is room for another one.
func (x *Context) sendShort() error {
	more, err := x.route[x.node].more.TrySendMore(x.node, x.short, inline)
	if !more {
		x.sure = -1
	}
	x.short = nil
	return err
}

// Discard gives up the buffer that GetSendBuffer has returned. The original has no such call.
func (x *Context) Discard() error {
	if !x.sending {
		return errNoBuffer
	}
	x.sending = false
	x.short = nil
	x.draft.Discard()
	return nil
}

// SendDone returns nil if the receivers' contexts have accepted every message that was sent, and
// weft.ErrWouldBlock (EBUSY) if one has not, or if that is not known yet (pmIsSendDone).
func (x *Context) SendDone() error {
	for _, l := range x.parts {
		if err := l.more.TryFlush(); err != nil {
			return err
		}
	}
	return nil
}
