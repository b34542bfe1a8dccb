package agreement

import (
	"cmp"
	"encoding/binary"
	"errors"
	"slices"
)

// A Value is what is agreed on.
type Value struct {
	And      uint64 // bitwise and of what the members contribute
	Min, Max uint32 // of the kinds that they say: what they have agreed for
	Dead     Set    // the members that were taken for dead when the value was worked out
}

// merge takes a contribution, or several, into the value.
func (v Value) merge(o Value) Value {
	v.And &= o.And
	v.Min = min(v.Min, o.Min)
	v.Max = max(v.Max, o.Max)
	return v
}

// An estimate is a value that a member has accepted, and the size of the view in which it has; -1
// if it has accepted none.
type estimate struct {
	Value
	size int
}

// compare orders estimates. That of the larger view counts. If members have accepted different values in views of one
// size, none of them has been decided: one is as good as the other, but all must take the same.
func (l estimate) compare(o estimate) int {
	return cmp.Or(cmp.Compare(l.size, o.size), cmp.Compare(l.And, o.And), cmp.Compare(l.Min, o.Min),
		cmp.Compare(l.Max, o.Max), slices.Compare(l.Dead, o.Dead))
}

// A Message is what members send each other.
type Message struct {
	Number uint32 // of the agreement, from 1; 0 in a message that excludes
	Round  int    // of the attempt; -1 in a message that excludes
	Dead   Set    // the sender's view: it names the attempt

	sum  Value    // of the contributions that the sender has heard of; its Dead is not used
	best estimate // that of the largest view that the sender has heard of
}

// Excludes reports whether the message only tells its receiver which members are taken for dead, the receiver itself
// perhaps.
func (m *Message) Excludes() bool { return m.Round < 0 }

// A message as bytes: number 4, round 2 (0xffff: it excludes), flags 2 (bit 0: a value was accepted), and 8, least kind
// 4, greatest kind 4; the accepted value: the size of its view 4, least kind 4, greatest kind 4, a
// word of 0, and 8; the
// view, a bit for each member in words of 8; the accepted value's dead, if there is a value. (PROTOCOL §12)
const (
	headSize    = 48
	noRound     = 1<<16 - 1
	hasEstimate = 1
	maxRounds   = 64
)

// ErrMessage says that bytes are no message of a group of that size.
var ErrMessage = errors.New("agreement: not a message of this group")

// Append appends a message of a group of n to b.
func (m *Message) Append(b []byte, n int) []byte {
	flags := uint16(0)
	best := m.best
	if best.size >= 0 {
		flags = hasEstimate
	} else {
		best = estimate{}
	}
	b = binary.LittleEndian.AppendUint32(b, m.Number)
	b = binary.LittleEndian.AppendUint16(b, uint16(m.Round))
	b = binary.LittleEndian.AppendUint16(b, flags)
	b = binary.LittleEndian.AppendUint64(b, m.sum.And)
	b = binary.LittleEndian.AppendUint32(b, m.sum.Min)
	b = binary.LittleEndian.AppendUint32(b, m.sum.Max)
	b = binary.LittleEndian.AppendUint32(b, uint32(best.size))
	b = binary.LittleEndian.AppendUint32(b, best.Min)
	b = binary.LittleEndian.AppendUint32(b, best.Max)
	b = binary.LittleEndian.AppendUint32(b, 0)
	b = binary.LittleEndian.AppendUint64(b, best.And)
	b = m.Dead.append(b, n)
	if flags&hasEstimate != 0 {
		b = best.Dead.append(b, n)
	}
	return b
}

// append appends all words that a set of a group of n can have.
func (s Set) append(b []byte, n int) []byte {
	for i := range words(n) {
		w := uint64(0)
		if i < len(s) {
			w = s[i]
		}
		b = binary.LittleEndian.AppendUint64(b, w)
	}
	return b
}

// Parse parses a message of a group of n. It keeps nothing of b.
func Parse(b []byte, n int) (m Message, err error) {
	if len(b) < headSize+8*words(n) {
		return m, ErrMessage
	}
	m.Number = binary.LittleEndian.Uint32(b)
	m.Round = int(binary.LittleEndian.Uint16(b[4:]))
	flags := binary.LittleEndian.Uint16(b[6:])
	m.sum = Value{And: binary.LittleEndian.Uint64(b[8:]), Min: binary.LittleEndian.Uint32(b[16:]),
		Max: binary.LittleEndian.Uint32(b[20:])}
	m.best = estimate{size: int(binary.LittleEndian.Uint32(b[24:]))}
	m.best.Min = binary.LittleEndian.Uint32(b[28:])
	m.best.Max = binary.LittleEndian.Uint32(b[32:])
	zero := binary.LittleEndian.Uint32(b[36:])
	m.best.And = binary.LittleEndian.Uint64(b[40:])
	var ok bool
	b = b[headSize:]
	if m.Dead, ok = parseSet(b, n); !ok {
		return m, ErrMessage
	}
	b = b[8*words(n):]
	switch {
	case flags > hasEstimate || zero != 0:
		return m, ErrMessage
	case flags&hasEstimate == 0:
		if m.best.size != 0 || m.best.Min != 0 || m.best.Max != 0 || m.best.And != 0 || len(b) != 0 {
			return m, ErrMessage
		}
		m.best.size = -1
	default:
		if len(b) != 8*words(n) || m.best.size >= n {
			return m, ErrMessage
		}
		if m.best.Dead, ok = parseSet(b, n); !ok {
			return m, ErrMessage
		}
	}
	switch {
	case m.Round == noRound && m.Number == 0:
		m.Round = -1
	case m.Round >= 2*maxRounds || m.Number == 0:
		return m, ErrMessage
	}
	return m, nil
}

// parseSet parses a set of places of a group of n.
func parseSet(b []byte, n int) (Set, bool) {
	s := make(Set, words(n))
	for i := range s {
		s[i] = binary.LittleEndian.Uint64(b[8*i:])
	}
	if n&63 != 0 && s[len(s)-1]>>(n&63) != 0 {
		return nil, false
	}
	return s, true
}
