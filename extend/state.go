package extend

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"slices"

	"weft"
	"weft/internal/engine/msg"
)

// Held counts what a State holds.
type Held struct {
	Sent, Received           int // messages sent and not acknowledged, arrived and not received
	SentBytes, ReceivedBytes int // in these messages
}

// A State is the saved state of a port: the messages in its buffers, and the sequence
// numbers for each peer. MarshalBinary turns it into bytes, and UnmarshalBinary reads them.
// The zero State is that of a new port. It is for one goroutine at a time.
type State struct {
	of   identity // the port it is the state of; zero in the zero State
	body []byte   // PROTOCOL §3.6
	held Held
}

// An identity tells which port a state belongs to.
type identity struct {
	job        uint64
	rank, size int
	channel    int
}

// Held returns how many messages and bytes the state holds.
func (s *State) Held() Held { return s.held }

// Clone returns a copy that shares no memory with s.
func (s *State) Clone() *State {
	c := *s
	c.body = slices.Clone(s.body)
	return &c
}

// Save copies the state of a frozen port into s, and reuses the memory of s. The port keeps its
// state until Restore. Unless the last Freeze has succeeded, the error matches weft.ErrNotFrozen.
func (x *Port) Save(s *State) error {
	body, held, err := x.in.Node.Save(x.in.Port, s.body[:0])
	if err != nil {
		return err
	}
	*s = State{x.identity(), body, Held(held)}
	return nil
}

func (x *Port) identity() identity {
	return identity{x.in.Job.ID, x.in.Job.Rank, x.in.Job.Size, x.in.Channel}
}

// Restore replaces the state of a frozen port by a copy of s; nil means the state of a new port.
// The former state is lost unless it has been saved. If s is damaged, or belongs to another
// job, rank or channel, or needs larger buffers than the port has, the error is a weft.SavedError,
// and the port is unchanged. Deaths of ranks since the state was saved are reported by the
// next receive.
func (x *Port) Restore(s *State) error {
	if s == nil {
		s = &State{}
	}
	if want := x.identity(); s.of != want && s.of != (identity{}) {
		return &weft.SavedError{Channel: x.in.Channel, Why: fmt.Sprintf("it is the state of %v, and this is %v", s.of, want)}
	}
	return x.in.Node.Restore(x.in.Port, s.body)
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
func (s *State) MarshalBinary() ([]byte, error) {
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

// UnmarshalBinary reads what MarshalBinary has returned. If the bytes are damaged the error is a
// SavedError. Whether they are the state of a certain port is checked by Restore.
func (s *State) UnmarshalBinary(b []byte) error {
	damaged := func(why string) error { return &weft.SavedError{Channel: -1, Why: why} }
	if len(b) < stateHead+4 || string(b[:8]) != stateMagic {
		return damaged("its first bytes are not those of a saved state")
	}
	if v := binary.LittleEndian.Uint32(b[8:]); v != stateVersion {
		return damaged(fmt.Sprintf("its version is %d, and this program reads version %d", v, stateVersion))
	}
	end := len(b) - 4
	if binary.LittleEndian.Uint32(b[end:]) != crc32.Checksum(b[:end], castagnoli) {
		return damaged("it is damaged: its checksum is wrong")
	}
	*s = State{body: slices.Clone(b[stateHead:end])}
	s.of.job = binary.LittleEndian.Uint64(b[12:])
	for i, v := range []*int{&s.of.rank, &s.of.size, &s.of.channel} {
		*v = int(binary.LittleEndian.Uint32(b[20+4*i:]))
	}
	held, err := msg.Holds(s.body, s.of.size)
	s.held = Held(held)
	return err
}
