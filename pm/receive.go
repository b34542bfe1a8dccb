package pm

import (
	"weft"
	"weft/extend"
)

// Receive returns the next message, in the order of arrival, and the node that sent it (pmReceive).
// If there is none the error is weft.ErrWouldBlock (ENOBUFS). The bytes belong to the caller until
// ReleaseReceiveBuffer; until then another Receive is a BusyError. The death of a node is reported
// once, behind the messages that it had sent, by an error that matches weft.ErrPeer.
func (x *Context) Receive() (b []byte, from int, err error) {
	if x.receiving {
		return nil, 0, errReceiving
	}
	if len(x.parts) == 1 {
		x.message, err = x.parts[0].more.TryRecvCopy(x.in[:])
	} else {
		x.message, err = x.receiveAny()
	}
	if err != nil {
		return nil, 0, err
	}
	x.receiving = true
	return x.message.Data, x.message.From, nil
}

// receiveAny tries the parts in turn, so that none starves.
func (x *Context) receiveAny() (extend.Message, error) {
	for range x.parts {
		l := x.parts[x.turn]
		x.turn = (x.turn + 1) % len(x.parts)
		if m, err := l.more.TryRecvCopy(x.in[:]); err != weft.ErrWouldBlock {
			return m, err
		}
	}
	return extend.Message{}, weft.ErrWouldBlock
}

// ReleaseReceiveBuffer gives the message that Receive has returned back (pmReleaseReceiveBuffer).
func (x *Context) ReleaseReceiveBuffer() error {
	if !x.receiving {
		return errNoMessage
	}
	x.receiving = false
	x.message.Release()
	return nil
}
