package udp

import (
	"fmt"
	"strings"
	"sync/atomic"

	"weft/internal/sys"
)

// A peer is a rank that packets are sent to.
type peer struct {
	rank  int
	addr  *sys.UDPAddr
	limit int          // bytes of the longest packet that both of us take
	mtu   atomic.Int32 // what the path takes of that, as far as the kernel knows
	since int32        // packets that have left since the kernel was asked
	cut   cutting
}

func (p *peer) now() int { return int(p.mtu.Load()) }

// Dial remembers where a peer is.
func (t *Transport) Dial(rank int, text string) error {
	c, err := parseCard(text)
	if err != nil {
		return err
	}
	if c.addr.Addr().Is4() != t.card.addr.Addr().Is4() {
		return fmt.Errorf("weft: udp: peer %d is at %v and we are at %v, of another family: bind all ranks to addresses of "+
			"one family (WEFT_BIND or Config.Bind)", rank, c.addr, t.card.addr)
	}
	p := &peer{rank: rank, addr: t.socket.NewUDPAddr(c.addr), limit: min(c.mtu, t.card.mtu)}
	p.mtu.Store(int32(p.limit))
	if n, err := t.socket.PathMTU(p.addr); err == nil {
		p.mtu.Store(int32(p.takes(n)))
	}
	t.peers.Add(rank, p)
	return nil
}

// PeerMTU returns the longest packet that both we and a dialled peer take, or what the
// kernel says that the path takes, if that is less.
func (t *Transport) PeerMTU(rank int) int {
	if p := t.peers.Get(rank); p != nil {
		return p.now()
	}
	return t.card.mtu
}

// Resized returns the peers whose PeerMTU has changed.
func (t *Transport) Resized() []int {
	if len(t.resized[0]) == 0 {
		return nil
	}
	t.resized[0], t.resized[1] = t.resized[1][:0], t.resized[0]
	return t.resized[1]
}

// How many packets leave to a peer before the kernel is asked again how long they may
// be: the path may have become wider. It is asked soon when one has to be repeated: a
// router may have told it that the path has become narrower.
const (
	often = 1024
	soon  = 8
)

// look asks the kernel from time to time. It is called before packets are sent.
func (t *Transport) look(p *peer, packets int, again bool) {
	if p.since += int32(packets); p.since > often || again && p.since > soon {
		t.measure(p)
	}
}

// measure asks the kernel how long packets to a peer may be.
func (t *Transport) measure(p *peer) {
	p.since = 0
	n, err := t.socket.PathMTU(p.addr)
	if err != nil {
		return // there is no route now
	}
	if n < minMTU {
		t.socket.Fragment(true) // such a path takes what IPv6 paths take in fragments only
	}
	if n = p.takes(n); n != p.now() {
		p.mtu.Store(int32(n))
		t.resized[0] = append(t.resized[0], p.rank)
	}
}

// takes returns how long packets to the peer may be, if the kernel says that its path takes
// so many bytes.
func (p *peer) takes(n int) int { return max(min(n, p.limit), minMTU) }

// Path says how long packets to a peer may be and why, whether they leave and arrive
// several at a time, and what the kernel has refused.
func (t *Transport) Path(rank int) string {
	p := t.peers.Get(rank)
	if p == nil {
		return ""
	}
	var s []string
	if n := p.now(); n < p.limit {
		s = append(s, fmt.Sprintf("the route takes packets of %d bytes, not %d", n, p.limit))
	}
	switch {
	case t.cfg.NoSegment:
		s = append(s, "packets leave singly: WEFT_UDP_SEGMENT=off")
	case !t.socket.GSO:
		s = append(s, "packets leave singly: the kernel has no UDP_SEGMENT")
	case p.cut.why != "":
		s = append(s, "packets leave singly: "+p.cut.why)
	default:
		s = append(s, "packets leave in batches (UDP_SEGMENT)")
	}
	switch {
	case t.cfg.NoGRO:
		s = append(s, "arrive singly: WEFT_UDP_GRO=off")
	case !t.socket.GRO:
		s = append(s, "arrive singly: the kernel has no UDP_GRO")
	default:
		s = append(s, "arrive joined (UDP_GRO)")
	}
	s = append(s, fmt.Sprintf("buffers of %d KiB in, %d KiB out", t.socket.RecvBuffer>>10, t.socket.SendBuffer>>10))
	if c := &t.socket.Counts; c.Refused > 0 {
		s = append(s, fmt.Sprintf("the kernel refused %d packets: %v", c.Refused, c.Refusal))
	}
	return strings.Join(s, "; ")
}
