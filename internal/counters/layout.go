package counters

import (
	"math/bits"

	"weft/internal/mem"
)

// The layout of a page, version 1. All numbers are of 8 bytes unless the field says
// otherwise, little-endian, at multiples of their size. The first NodeSize bytes are a Node,
// and PeerSize bytes follow for each peer that the rank has had to do with.
const (
	Version  = 1
	NodeSize = 4096
	PeerSize = 512

	magic = 0x6567_6170_7466_6577 // "weftpage"
)

// How many there is room for.
const (
	MaxTransports = 4
	MaxWaiting    = 8
	MaxErrors     = 16
)

// A Node is what a rank counts that is not about one peer.
type Node struct {
	magic   uint64
	version uint64
	rank    uint32
	size    uint32
	pid     uint64
	started int64 // Unix time in ns, as all times
	job     [64]byte
	host    [64]byte
	program [64]byte
	_       [24]byte

	Dropped     Dropped // packets that were not accepted
	Strange     uint64  // packets that came before their senders were known, or from none
	StrangeSize uint64  // bytes of these
	Memory      uint64  // bytes held
	Mapped      uint64  // of that of other ranks on this host, what is mapped here
	Parked      uint64  // goroutines that sleep until something has come
	Updated     int64   // when Memory, Dropped and Transports were written last
	_           [21]uint64

	Transports [MaxTransports]Transport
	Waits      [Operations]Wait
	waiting    [MaxWaiting]waiting
	errors     [MaxErrors]fault
}

// Dropped counts packets that were not accepted, by reason.
type Dropped struct {
	Malformed uint64 `json:"malformed"`
	Foreign   uint64 `json:"foreign"` // of another job, or for another rank
	Forged    uint64 `json:"forged"`  // with a wrong authentication tag
	Replayed  uint64 `json:"replayed"`
	Stale     uint64 `json:"stale"` // from an earlier incarnation, or from a peer that is gone
}

// Sum returns how many there are.
func (d Dropped) Sum() uint64 { return d.Malformed + d.Foreign + d.Forged + d.Replayed + d.Stale }

// A Transport is what a transport has counted at this host.
type Transport struct {
	name   [16]byte
	Memory uint64 // bytes held
	Local
	_ [6]uint64
}

// Local counts what befalls packets at this host, which a lossy transport need not report in any other way.
type Local struct {
	Batches   uint64 `json:"batches"`   // system calls that sent several packets as one, for the kernel to cut
	Uncut     uint64 `json:"uncut"`     // of those, the ones that the kernel refused, so that their packets went singly
	Joined    uint64 `json:"joined"`    // datagrams that the kernel had joined of several packets
	Overflows uint64 `json:"overflows"` // datagrams and frames lost, as the receive buffer was full
	Truncated uint64 `json:"truncated"` // datagrams and frames lost, as they were longer than any should be
	Unsent    uint64 `json:"unsent"`    // packets lost, as the kernel would not send them, such as for a firewall
	Switched  uint64 `json:"switched"`  // times that batches to a peer were switched off, since they did not arrive
}

// Add adds the counts of another transport.
func (l *Local) Add(o Local) {
	l.Batches += o.Batches
	l.Uncut += o.Uncut
	l.Joined += o.Joined
	l.Overflows += o.Overflows
	l.Truncated += o.Truncated
	l.Unsent += o.Unsent
	l.Switched += o.Switched
}

// A Peer is what a rank counts of one peer.
type Peer struct {
	tag       uint64 // the peer's rank + 1; 0: the block is nobody's. Written last
	Transport uint64 // its place in Node.Transports + 1; 0: none
	State     State
	MTU       uint64 // bytes of a packet
	Window    uint64 // packets that may be on their way to it; 0: the path has no link
	Flying    uint64 // packets on their way
	RTT       int64  // ns, smoothed; 0: not measured
	RTTVar    int64  // ns, mean deviation of that

	Sent, Received Flow

	Shortened uint64 // times that packets were cut shorter, as the path lost long ones
	RTTTotal  uint64 // ns, of all in RoundTrips

	// Bytes that did not go in packets: of long messages, which the receiver reads in the sender's
	// memory, and of access to mapped memory, if it is long. The latter are written atomically.
	SentLong, ReceivedLong uint64
	Written, Read          uint64
	_                      [2]uint64

	RoundTrips Histogram
}

// LongAccess is how many bytes an access to mapped memory has at least that is counted: shorter
// ones take no more time than to count them would.
const LongAccess = 16 << 10

// Wrote and Got count access to memory of the peer that is mapped here. Any goroutine may call them.
func (p *Peer) Wrote(bytes int) { mem.Word(&p.Written).Add(uint64(bytes)) }

// Got is Wrote for bytes that were read.
func (p *Peer) Got(bytes int) { mem.Word(&p.Read).Add(uint64(bytes)) }

// A Flow is what went to a peer, or came from it.
type Flow struct {
	Messages uint64 `json:"messages"` // of ports
	Accesses uint64 `json:"accesses"` // requests about memory and mailboxes that went in packets
	Packets  uint64 `json:"packets"`  // that the transport has taken, or delivered
	Bytes    uint64 `json:"bytes"`    // of these
	Resent   uint64 `json:"resent"`   // sent again; or received again
	Lost     uint64 `json:"lost"`     // times that nothing was acknowledged in time; or that packets were missing
	Refused  uint64 `json:"refused"`  // by the receiver, for lack of room: messages, and streams of packets (STOP)
	Resumed  uint64 `json:"resumed"`  // times that the receiver told the sender to go on (GO)
}

// Add adds another flow.
func (f *Flow) Add(o *Flow) {
	f.Messages += o.Messages
	f.Accesses += o.Accesses
	f.Packets += o.Packets
	f.Bytes += o.Bytes
	f.Resent += o.Resent
	f.Lost += o.Lost
	f.Refused += o.Refused
	f.Resumed += o.Resumed
}

// State is how a peer stands to this rank.
type State uint64

// The states of a peer.
const (
	Unconnected State = iota
	Connected
	Left // in good order
	Gone
)

// states are the names of State, in order.
var states = [...]string{"unconnected", "connected", "left", "gone"}

// String returns the state's name in lower case.
func (s State) String() string { return states[min(s, Gone)] }

// A Histogram counts times by their length, in two classes for each doubling.
type Histogram [32]uint64

// shift makes a time the unit of which class 1 begins with two: 2048 ns.
const shift = 11

// Measured counts a round trip of so many nanoseconds.
func (p *Peer) Measured(ns int64) {
	p.RTTTotal += uint64(max(ns, 0))
	p.RoundTrips.Add(ns)
}

// Add counts a time in nanoseconds.
func (h *Histogram) Add(ns int64) { h[class(ns)]++ }

// class returns the class of a duration in ns in a Histogram: two classes for each power of two of its unit, of
// 2^shift ns. The last class has all that is longer.
func class(ns int64) int {
	units := uint64(max(ns, 0)) >> shift
	if units < 2 {
		return 0
	}
	octave := bits.Len64(units) - 1
	half := int(units >> (octave - 1) & 1)
	return min(2*octave-1+half, len(Histogram{})-1)
}

// Below returns the time in nanoseconds that all of a class are shorter than. The last class
// has no such time: it is 0.
func Below(class int) int64 {
	switch {
	case class >= len(Histogram{})-1:
		return 0
	case class%2 == 0:
		return 2 << (class/2 + shift)
	default:
		return 3 << (class/2 + shift)
	}
}

// put writes a text of bounded length, which a zero ends.
func put(to []byte, text string) { clear(to[copy(to, text):]) }
