package wire

// RevokeSize is the length of the frame's head.
const RevokeSize = 12

// Nobody stands in a Revoke where no rank has gone.
const Nobody = 1<<32 - 1

// MaxReason is the longest reason of a Revoke in bytes.
const MaxReason = 200

// Revoke ends a channel: nothing is sent or received on it any more. By is the rank that found out that its group
// cannot go on, Gone the rank whose end is the cause, or Nobody. The payload says why, in words. (PROTOCOL §3.4)
type Revoke struct {
	Channel  uint16
	By, Gone uint32
}

// Append appends the frame's head to b.
func (f Revoke) Append(b []byte) []byte {
	b, h := head(b, RevokeSize, TypeRevoke, false)
	order.PutUint16(h[2:], f.Channel)
	order.PutUint32(h[4:], f.By)
	order.PutUint32(h[8:], f.Gone)
	return b
}

// ParseRevoke parses a REVOKE frame. The reason is part of b.
func ParseRevoke(b []byte) (f Revoke, reason []byte, err error) {
	flag, err := parse(b, RevokeSize, TypeRevoke)
	if err != nil {
		return f, nil, err
	}
	if flag || len(b) > RevokeSize+MaxReason {
		return f, nil, ErrField
	}
	f.Channel = u16(b, 2)
	f.By = u32(b, 4)
	f.Gone = u32(b, 8)
	return f, b[RevokeSize:], nil
}
