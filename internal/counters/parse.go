package counters

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"weft/internal/mem"
)

// ErrForeign reports memory that is not a page, or is a page of another version.
var ErrForeign = errors.New("weft: it is no page of counters of this version")

// MaxPage is the most bytes of a page that are read.
const MaxPage = 64 << 20

// Parse returns what a copy of a page says. Whatever the bytes are it does not panic, and
// what it returns is not larger than they are by much.
func Parse(b []byte) (*Snapshot, error) {
	if len(b) < NodeSize {
		return nil, fmt.Errorf("%w: %d bytes", ErrForeign, len(b))
	}
	aligned := mem.Aligned(min(len(b), MaxPage) / PeerSize * PeerSize)
	copy(aligned, b)
	n := mem.At[Node](aligned, 0)
	if n.magic != magic || n.version != Version {
		return nil, fmt.Errorf("%w: version %d", ErrForeign, n.version)
	}
	if n.size == 0 || n.rank >= n.size || n.size > 1<<30 {
		return nil, fmt.Errorf("%w: rank %d of %d", ErrForeign, n.rank, n.size)
	}
	s := &Snapshot{
		Rank: int(n.rank), Size: int(n.size), PID: int(int32(n.pid)),
		Job: cut(n.job[:]), Host: cut(n.host[:]), Program: cut(n.program[:]),
		Started: time.Unix(0, n.started), Updated: time.Unix(0, n.Updated),
		Dropped: n.Dropped, Strange: n.Strange, StrangeSize: n.StrangeSize,
		Memory: n.Memory, Mapped: n.Mapped, Parked: int(int32(n.Parked)),
	}
	s.parseTransports(n)
	s.parseWaits(n)
	s.parseErrors(n)
	s.parsePeers(mem.View[Peer](aligned[NodeSize:], len(aligned[NodeSize:])/PeerSize))
	return s, nil
}

// parseTransports reads the counts of transports. The first without a name ends the list.
func (s *Snapshot) parseTransports(n *Node) {
	for i := range n.Transports {
		t := &n.Transports[i]
		if t.name[0] == 0 {
			break
		}
		s.Transports = append(s.Transports, TransportCounts{cut(t.name[:]), t.Memory, t.Local})
	}
}

// parseWaits reads what waits have cost, and the calls that wait now. An entry with an odd number is being written,
// and is left out.
func (s *Snapshot) parseWaits(n *Node) {
	for op, w := range n.Waits {
		if Operation(op) == Barrier {
			w.add(n.Waits[HostBarrier])
		}
		if w != (Wait{}) && Operation(op) != HostBarrier {
			s.Waits = append(s.Waits, WaitCounts{Operation(op).String(), w})
		}
	}
	for i := range n.waiting {
		w := &n.waiting[i]
		if w.number%2 != 0 || w.operation == 0 {
			continue
		}
		s.Waiting = append(s.Waiting, Waiting{
			Operation: Operation(min(w.operation-1, uint32(Operations))).String(), Peer: max(int(w.peer), -1),
			Since: time.Unix(0, w.since), Phase: w.phase, Name: cut(w.name[:]),
		})
	}
}

// parseErrors reads the latest errors.
func (s *Snapshot) parseErrors(n *Node) {
	for i := range n.errors {
		f := &n.errors[i]
		if f.count == 0 {
			continue
		}
		s.Errors = append(s.Errors, Error{
			Text: cut(f.text[:]), Peer: int(max(f.peer, -1)), Count: f.count, First: time.Unix(0, f.first),
			Last: time.Unix(0, f.last),
		})
	}
}

// parsePeers reads the blocks of peers, and sums them up. The tag of a block is written last, so a block with a tag
// is whole. The page is not trusted: a rank that the job does not have is left out, and so is one that comes twice.
func (s *Snapshot) parsePeers(peers []Peer) {
	for i := range peers {
		p := &peers[i]
		if p.tag == 0 || p.tag > uint64(s.Size) {
			continue
		}
		c := PeerCounts{
			Rank: int(p.tag - 1), State: p.State.String(), MTU: p.MTU, Window: p.Window, Flying: p.Flying,
			RTT: time.Duration(p.RTT), RTTVar: time.Duration(p.RTTVar), Sent: p.Sent, Received: p.Received,
			Shortened: p.Shortened, RTTTotal: time.Duration(p.RTTTotal),
			SentDirect: p.SentLong + p.Written, GotDirect: p.ReceivedLong + p.Read, RoundTrips: p.RoundTrips.classes(),
		}
		if t := p.Transport - 1; t < uint64(len(s.Transports)) {
			c.Transport = s.Transports[t].Name
		}
		s.Peers = append(s.Peers, c)
		s.Sent.Add(&p.Sent)
		s.Received.Add(&p.Received)
		s.SentDirect += c.SentDirect
		s.GotDirect += c.GotDirect
	}
	slices.SortFunc(s.Peers, func(a, b PeerCounts) int { return cmp.Compare(a.Rank, b.Rank) })
	s.Peers = slices.CompactFunc(s.Peers, func(a, b PeerCounts) bool { return a.Rank == b.Rank })
}

// classes returns those that are not empty.
func (h *Histogram) classes() (list []Class) {
	for i, n := range h {
		if n > 0 {
			list = append(list, Class{time.Duration(Below(i)), n})
		}
	}
	return list
}

// cut returns the text before the first zero, without what a terminal could mistake for
// orders.
func cut(b []byte) string { return Printable(string(text(b))) }

// Printable returns a text in which what is not to be printed, such as control characters, is replaced.
func Printable(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return unicode.ReplacementChar
	}, s)
}

// text returns the bytes before the first zero.
func text(b []byte) []byte {
	if i := bytes.IndexByte(b, 0); i >= 0 {
		return b[:i]
	}
	return b
}

// Whole returns a copy of a page without the sleeping goroutines whose entries were being changed
// while the page was copied. It finds them by a second copy, made later: again.
func Whole(b, again []byte) []byte {
	if len(b) < NodeSize || len(again) < NodeSize {
		return b
	}
	whole := mem.Aligned(len(b))
	copy(whole, b)
	second := mem.Aligned(NodeSize)
	copy(second, again)
	n := mem.At[Node](whole, 0)
	m := mem.At[Node](second, 0)
	for i := range n.waiting {
		if n.waiting[i] != m.waiting[i] {
			n.waiting[i].operation = 0
		}
	}
	return whole
}
