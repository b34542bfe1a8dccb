package pm

import (
	"weft"
	"weft/extend"
)

// MaxHeld is how many received messages a context holds at a time.
const MaxHeld = 16

// A received is a message that the program holds.
type received struct {
	message extend.Message
	short   [inline]byte // holds the message, if it is short
}

// Receive returns the next message, in the order of arrival, and the node that sent it (pmReceive).
// If there is none the error is weft.ErrWouldBlock (ENOBUFS). The bytes belong to the caller until
// ReleaseReceiveBuffer has given them back. A program may hold MaxHeld messages; while it does,
// another Receive is a BusyError. The death of a node is reported once, behind the messages that it had
// sent, by an error that matches weft.ErrPeer.
func (x *Context) Receive() (b []byte, from int, err error) {
	if x.held == MaxHeld {
		return nil, 0, errReceiving
	}
	r := &x.received[(x.oldest+x.held)%MaxHeld]
	if len(x.parts) == 1 {
		r.message, err = x.parts[0].more.TryRecvCopy(r.short[:])
	} else {
		r.message, err = x.receiveAny(r.short[:])
	}
	if err != nil {
		return nil, 0, err
	}
	x.held++
	return r.message.Data, r.message.From, nil
}

// receiveAny tries the parts in turn, so that none starves.
func (x *Context) receiveAny(buf []byte) (extend.Message, error) {
	for range x.parts {
		l := x.parts[x.turn]
		x.turn = (x.turn + 1) % len(x.parts)
		if m, err := l.more.TryRecvCopy(buf); err != weft.ErrWouldBlock {
			return m, err
		}
	}
	return extend.Message{}, weft.ErrWouldBlock
}

// ReleaseReceiveBuffer gives the oldest message back that Receive has returned and the program holds
// (pmReleaseReceiveBuffer).
func (x *Context) ReleaseReceiveBuffer() error {
	if x.held == 0 {
		return errNoMessage
	}
	x.received[x.oldest].message.Release()
	x.oldest = (x.oldest + 1) % MaxHeld
	x.held--
	return nil
}
