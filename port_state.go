package weft

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"slices"

	"weft/internal/engine/msg"
)

// Held counts what a PortState holds.
type Held struct {
	Sent, Received           int // messages sent and not acknowledged, arrived and not received
	SentBytes, ReceivedBytes int // in these messages
}

// A PortState is the state of a port: the messages in its buffers and the numbers of those on either side. It is a value
// that can be copied by Clone, written down and read again. The zero PortState is that of a port that has just been opened.
type PortState struct {
	of   identity // zero in the zero PortState
	body []byte   // PROTOCOL §3.6
	held Held
}

// An identity says whose state it is.
type identity struct {
	job        uint64
	rank, size int
	channel    int
}

// Held returns how much it holds.
func (s *PortState) Held() Held { return s.held }

// Clone returns a copy that shares no memory with s.
func (s *PortState) Clone() *PortState {
	c := *s
	c.body = slices.Clone(s.body)
	return &c
}

// Save puts the state of a frozen port into s, whose memory it uses. The port keeps its state, too, until Restore. The error is
// ErrNotFrozen unless Freeze has ended without one.
func (q *Port) Save(s *PortState) error {
	body, held, err := q.p.node.Save(q.port, s.body[:0])
	if err != nil {
		return public(err)
	}
	*s = PortState{q.identity(), body, Held(held)}
	return nil
}

func (q *Port) identity() identity {
	return identity{q.p.job.ID, q.p.job.Rank, q.p.job.Size, q.channel}
}

// Restore makes s the state of a frozen port, in the place of the one that it has, which is lost if it has not been saved; nil
// means that of a port that has just been opened. It copies s, and counts it. A state that is damaged, or of another job, rank or
// channel, or for which the port's buffers are too small, gets a SavedError, and changes nothing. Ranks that have died meanwhile
// are reported to the receiver.
func (q *Port) Restore(s *PortState) error {
	if s == nil {
		s = &PortState{}
	}
	if want := q.identity(); s.of != want && s.of != (identity{}) {
		return &SavedError{Channel: q.channel, Why: fmt.Sprintf("it is of %v, and this is %v", s.of, want)}
	}
	return public(q.p.node.Restore(q.port, s.body))
}

func (i identity) String() string {
	return fmt.Sprintf("channel %d of rank %d of %d in job %x", i.channel, i.rank, i.size, i.job)
}

// The state as bytes: magic, version, job, rank, size, channel, then the body and a CRC-32C of all that.
const (
	stateMagic   = "weftport"
	stateVersion = 1
	stateHead    = 8 + 4 + 8 + 4 + 4 + 4
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// MarshalBinary returns the state as bytes.
func (s *PortState) MarshalBinary() ([]byte, error) {
	b := make([]byte, 0, stateHead+len(s.body)+4)
	b = append(b, stateMagic...)
	b = binary.LittleEndian.AppendUint32(b, stateVersion)
	b = binary.LittleEndian.AppendUint64(b, s.of.job)
	for _, v := range []int{s.of.rank, s.of.size, s.of.channel} {
		b = binary.LittleEndian.AppendUint32(b, uint32(v))
	}
	b = append(b, s.body...)
	return binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, castagnoli)), nil
}

// UnmarshalBinary reads what MarshalBinary has returned. Bytes that are damaged get a SavedError; Restore finds out whether they
// are a state of its port.
func (s *PortState) UnmarshalBinary(b []byte) error {
	damaged := func(why string) error { return &SavedError{Channel: -1, Why: why} }
	if len(b) < stateHead+4 || string(b[:8]) != stateMagic {
		return damaged("it does not begin as the state of a port does")
	}
	if v := binary.LittleEndian.Uint32(b[8:]); v != stateVersion {
		return damaged(fmt.Sprintf("it is of version %d, and this program knows version %d", v, stateVersion))
	}
	end := len(b) - 4
	if binary.LittleEndian.Uint32(b[end:]) != crc32.Checksum(b[:end], castagnoli) {
		return damaged("it is damaged: its checksum is wrong")
	}
	*s = PortState{body: slices.Clone(b[stateHead:end])}
	s.of.job = binary.LittleEndian.Uint64(b[12:])
	for i, v := range []*int{&s.of.rank, &s.of.size, &s.of.channel} {
		*v = int(binary.LittleEndian.Uint32(b[20+4*i:]))
	}
	held, err := msg.Holds(s.body, s.of.size)
	s.held = Held(held)
	return public(err)
}
