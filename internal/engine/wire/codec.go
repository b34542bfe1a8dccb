package wire

import (
	"encoding/binary"
	"errors"
)

// Errors of the parsers.
var (
	ErrShort = errors.New("weft: frame is too short")
	ErrType  = errors.New("weft: unknown frame type")
	ErrField = errors.New("weft: frame has a field with an impossible value")
)

var order = binary.LittleEndian

// u16, u32 and u64 read a field.
func u16(b []byte, at int) uint16 { return order.Uint16(b[at:]) }
func u32(b []byte, at int) uint32 { return order.Uint32(b[at:]) }
func u64(b []byte, at int) uint64 { return order.Uint64(b[at:]) }

// head extends b by the n bytes of a frame's head, all zero but the type and the flag, and returns both the whole and
// the head.
func head(b []byte, n int, t Type, flag bool) (whole, head []byte) {
	at := len(b)
	if cap(b)-at < n {
		b = append(b, make([]byte, n)...)[:at]
	}
	whole = b[:at+n]
	head = whole[at:]
	clear(head)
	head[0] = byte(t)
	if flag {
		head[1] = 1
	}
	return whole, head
}

// parse checks what all frames have in common: the type, the length of the head, and that only the lowest flag is set.
func parse(b []byte, n int, t Type) (flag bool, err error) {
	switch {
	case len(b) < n:
		return false, ErrShort
	case Type(b[0]) != t:
		return false, ErrType
	case b[1] > 1:
		return false, ErrField
	}
	return b[1] == 1, nil
}

// A codec writes or reads the fields of a frame in the order of its calls, so the frame lists its fields once for both
// directions. The frames that come with every packet of a transfer, or with every event, have code of their own, which
// is faster. A reader keeps its first error, and reads zeros behind the end.
type codec struct {
	b       []byte // written: all so far; read: all that is left
	reading bool
	err     error
}

// write begins a frame at the end of b.
func write(b []byte, t Type) *codec { return &codec{b: append(b, byte(t))} }

// read begins the frame b.
func read(b []byte, t Type) *codec { return (&codec{b: b, reading: true}).begin(t) }

// begin reads the type.
func (c *codec) begin(t Type) *codec {
	if b := c.take(1); c.err == nil && Type(b[0]) != t {
		c.err = ErrType
	}
	return c
}

var zeros [8]byte

// take reads the next n bytes, at most 8.
func (c *codec) take(n int) []byte {
	if n > len(c.b) {
		if c.err == nil {
			c.err = ErrShort
		}
		c.b = nil
		return zeros[:n]
	}
	b := c.b[:n]
	c.b = c.b[n:]
	return b
}

// check notes an error unless what was read is possible.
func (c *codec) check(possible bool) *codec {
	if !possible && c.err == nil {
		c.err = ErrField
	}
	return c
}

// zero is n bytes of 0, at most 8.
func (c *codec) zero(n int) *codec {
	if !c.reading {
		c.b = append(c.b, zeros[:n]...)
		return c
	}
	for _, b := range c.take(n) {
		c.check(b == 0)
	}
	return c
}

// flag is a byte of flags, from bit 0 on.
func (c *codec) flag(fields ...*bool) *codec {
	var b uint8
	for i, f := range fields {
		if *f {
			b |= 1 << i
		}
	}
	c.u8(&b)
	for i, f := range fields {
		*f = b&(1<<i) != 0
	}
	return c.check(b < 1<<len(fields))
}

func (c *codec) u8(f *uint8) *codec {
	if c.reading {
		*f = c.take(1)[0]
	} else {
		c.b = append(c.b, *f)
	}
	return c
}

func (c *codec) u16(f *uint16) *codec {
	if c.reading {
		*f = order.Uint16(c.take(2))
	} else {
		c.b = order.AppendUint16(c.b, *f)
	}
	return c
}

func (c *codec) u32(fields ...*uint32) *codec {
	for _, f := range fields {
		if c.reading {
			*f = order.Uint32(c.take(4))
		} else {
			c.b = order.AppendUint32(c.b, *f)
		}
	}
	return c
}

func (c *codec) u64(fields ...*uint64) *codec {
	for _, f := range fields {
		if c.reading {
			*f = order.Uint64(c.take(8))
		} else {
			c.b = order.AppendUint64(c.b, *f)
		}
	}
	return c
}

// status is a Status that exists.
func (c *codec) status(s *Status) *codec {
	c.u16((*uint16)(s))
	return c.check(*s < statusEnd)
}

// end returns the error of a frame that ends here.
func (c *codec) end() error { return c.check(len(c.b) == 0).err }

// payload returns the rest of a frame, whose length must be from least to most, or the error.
func (c *codec) payload(least, most int) ([]byte, error) {
	if n := len(c.b); c.check(n >= least && n <= most).err != nil {
		return nil, c.err
	}
	return c.b, nil
}
