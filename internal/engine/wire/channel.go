package wire

import (
	"strings"
	"unicode"
)

// Nobody stands in a Revoke where no rank has gone.
const Nobody = 1<<32 - 1

// MaxReason is the longest reason of a Revoke or a Bye in bytes.
const MaxReason = 200

// Reason returns the reason that a peer gives, without what a terminal would obey.
func Reason(b []byte) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return '?'
		}
		return r
	}, string(b))
}

// Revoke ends a channel: nothing is sent or received on it any more. By is the rank that found out that its group
// cannot go on, Gone the rank whose end is the cause, or Nobody. The payload says why, in words. (PROTOCOL §3.4)
type Revoke struct {
	Channel  uint16
	By, Gone uint32
}

func (f *Revoke) fields(c *codec) *codec { return c.zero(1).u16(&f.Channel).u32(&f.By, &f.Gone) }

// Append appends the frame's head to b.
func (f Revoke) Append(b []byte) []byte { return f.fields(write(b, TypeRevoke)).b }

// ParseRevoke parses a REVOKE frame. The payload is part of b.
func ParseRevoke(b []byte) (f Revoke, payload []byte, err error) {
	payload, err = f.fields(read(b, TypeRevoke)).payload(0, MaxReason)
	return f, payload, err
}

// Fence follows everything that a frozen port has sent to a peer: Seq is the first message that it has not
// transmitted. Number is that of the freezing. (PROTOCOL §3.5)
type Fence struct {
	Channel     uint16
	Number, Seq uint32
}

func (f *Fence) fields(c *codec) *codec { return c.zero(1).u16(&f.Channel).u32(&f.Number, &f.Seq) }

// Append appends the frame to b.
func (f Fence) Append(b []byte) []byte { return f.fields(write(b, TypeFence)).b }

// ParseFence parses a FENCE frame.
func ParseFence(b []byte) (f Fence, err error) {
	err = f.fields(read(b, TypeFence)).end()
	return f, err
}

// FenceAck answers a Fence, behind all other answers. Like an Ack it acknowledges all messages before Ack and
// tells the room left. (PROTOCOL §3.5)
type FenceAck struct {
	Channel           uint16
	Number, Ack, Room uint32
}

func (f *FenceAck) fields(c *codec) *codec {
	c.zero(1).u16(&f.Channel)
	return c.u32(&f.Number, &f.Ack, &f.Room)
}

// Append appends the frame to b.
func (f FenceAck) Append(b []byte) []byte { return f.fields(write(b, TypeFenceAck)).b }

// ParseFenceAck parses a FENCEACK frame.
func ParseFenceAck(b []byte) (f FenceAck, err error) {
	err = f.fields(read(b, TypeFenceAck)).end()
	return f, err
}
