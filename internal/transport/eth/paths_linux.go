package eth

import (
	"encoding/binary"
	"fmt"
	"net/netip"
	"sync/atomic"

	"weft/internal/sys"
	"weft/internal/transport"
	"weft/internal/transport/udp"
)

// Two paths lead to a peer on the segment: raw frames, which take the least time, and UDP
// datagrams, of which the kernel cuts and joins many in one system call. Runs of long
// packets take datagrams, and so do the short runs between them and soon after; all others
// take raw frames. Packets on one path may overtake those on the other; the link puts them in
// order again.
//
// Each path is used once it has proved to work: some switches and clouds drop frames that
// are not IP's, and some hosts refuse datagrams. A trial of the full length takes each path,
// and the peer answers by the same one (PROTOCOL §6.1). Until then all packets take raw
// frames, unless only datagrams have been answered. Datagrams that have crossed a router are
// refused: what guards packets is chosen for the segment ([RFC 5082]).

// A path is one of the two.
type path uint8

const (
	framePath path = iota
	datagramPath
	pathCount
)

// peerPaths is what is known of the paths to a peer.
//
//	state     works of a path  packets
//	unproven  false            take the other path; both unproven: raw frames
//	proven    true             take it if it is the better one for them
//
// A path is unproven until a trial on it has been answered. It stays proven: if it fails
// later, the link's timers notice.
type peerPaths struct {
	both   bool // a peer on the segment with a socket for datagrams; else there are raw frames only
	works  [pathCount]atomic.Bool
	trials int32 // rounds of trials so far
	follow int32 // runs, of whatever length, that take datagrams because a long one has
}

// proven reports whether no trial is needed any more.
func (p *peerPaths) proven() bool { return p.works[framePath].Load() && p.works[datagramPath].Load() }

// A trial asks the peer whether packets get through by one path, or answers. Behind the
// two words come the job and the ranks of its sender and its receiver; zeros fill it up.
//
//	0  4  "weft"
//	4  4  0: an answer, 1: a question
//	8  8  job
//	16 4  rank of the sender
//	20 4  rank of the receiver
const (
	trialSize  = 24
	trialMagic = 0x77656674
)

// leastRun is how many bytes a run needs to be worth a system call of its own, which the
// receiver must make as well.
const leastRun = 8 << 10

// following is how many shorter runs of packets of at least followSize bytes follow a long
// run by its path. By the other path they would arrive before it: the link would take it for
// lost, and send it again. So also the last packet of a message follows, which may have few bytes. Shorter
// packets acknowledge, ask or are urgent, and need not follow.
const (
	following  = 16
	followSize = 65
)

// openDatagrams opens the socket for datagrams on the interface, if it has an address and
// packets are long enough. Frames and datagrams carry packets of one length.
func (t *Transport) openDatagrams(name string) {
	subnet, ok := subnetOf(name)
	if !ok || len(t.ports) > 1 || t.cfg.FramesOnly {
		return
	}
	mtu := t.card.mtu + headSize - udp.Overhead(subnet.Addr())
	if t.cfg.MTU != 0 {
		mtu = min(mtu, t.cfg.MTU)
	}
	mtu = min(mtu, udp.MaxMTU)
	u, err := udp.Open(udp.Config{
		Bind: netip.AddrPortFrom(subnet.Addr(), 0).String(), MTU: mtu, Bell: t.cfg.Bell, OneSegment: true,
		NoSegment: t.cfg.NoSegment, NoGRO: t.cfg.NoGRO,
	})
	if err != nil {
		return // raw frames do
	}
	t.datagrams = u
	t.card.mtu = min(t.card.mtu, mtu)
	t.card.udp = u.Card()
	t.card.subnet = subnet
	t.trial = make([]byte, t.card.mtu)
}

// subnetOf returns an address of an interface with its subnet: of IPv4 if there is one. An address of IPv6 that is a
// network by itself, as DHCPv6 gives them, comes last. A link-local one does not count: it takes the name of an
// interface to use it, which differs from host to host.
func subnetOf(name string) (subnet netip.Prefix, ok bool) {
	own, _ := sys.Addresses(name) // without any, raw frames do
	for _, p := range own {
		switch {
		case p.Addr().Is4():
			return p, true
		case !p.Addr().IsGlobalUnicast():
		case !ok || subnet.IsSingleIP() && !p.IsSingleIP():
			subnet = p
			ok = true
		}
	}
	return subnet, ok
}

// OnSegment reports whether the peer that a card describes is on the segment of our
// interface, as far as the cards tell. It may be called before Dial.
func (t *Transport) OnSegment(text string) bool {
	c, err := parseCard(text)
	return err == nil && (!t.card.comparable(c) || t.card.onSegment(c))
}

// try sends a trial by each path that is unproven: often at first, then seldom.
func (t *Transport) try(p *peer) {
	p.paths.trials++
	if p.paths.trials > 16 && p.paths.trials%256 != 0 {
		return
	}
	for w := range pathCount {
		if !p.paths.works[w].Load() {
			t.sendTrial(p, w, 1)
		}
	}
}

// sendTrial sends a trial by one path. Answers are short, so that a stranger's question cannot
// make us send more bytes than it has.
func (t *Transport) sendTrial(p *peer, w path, question uint32) {
	b := t.trial[:trialSize]
	if question != 0 {
		b = t.trial[:t.PeerMTU(p.rank)]
	}
	binary.BigEndian.PutUint32(b, trialMagic)
	binary.BigEndian.PutUint32(b[4:], question)
	binary.BigEndian.PutUint64(b[8:], t.cfg.Job)
	binary.BigEndian.PutUint32(b[16:], uint32(t.cfg.Rank))
	binary.BigEndian.PutUint32(b[20:], uint32(p.rank))
	out := [1]transport.Out{{Peer: p.rank, Header: b}}
	if w == datagramPath {
		t.datagrams.Send(out[:])
		return
	}
	t.sendFrames(out[:])
}

// onTrial handles a packet that may be a trial, and reports whether it is one.
func (t *Transport) onTrial(w path, b []byte) bool {
	if t.datagrams == nil || len(b) < trialSize || binary.BigEndian.Uint32(b) != trialMagic {
		return false
	}
	if binary.BigEndian.Uint64(b[8:]) != t.cfg.Job || binary.BigEndian.Uint32(b[20:]) != uint32(t.cfg.Rank) {
		return true
	}
	p := t.peers.Sending(int(binary.BigEndian.Uint32(b[16:])))
	switch {
	case p == nil || !p.paths.both:
	case binary.BigEndian.Uint32(b[4:]) != 0:
		t.answers = append(t.answers, answer{p, w})
	default:
		p.paths.works[w].Store(true)
	}
	return true
}

// An answer to a peer's trial, which is still to be sent.
type answer struct {
	to   *peer
	path path
}

// reply sends the answers that are owed.
func (t *Transport) reply() {
	for _, a := range t.answers {
		t.sendTrial(a.to, a.path, 0)
	}
	t.answers = t.answers[:0]
}

// split returns how many packets, of those at the start, go together, and by which path.
func (t *Transport) split(pkts []transport.Out) (n int, w path) {
	if t.datagrams == nil {
		return len(pkts), framePath
	}
	for n < len(pkts) {
		p := t.peers.Sending(pkts[n].Peer)
		if p == nil || !p.paths.both {
			n++
			continue
		}
		if !p.paths.proven() {
			t.try(p)
		}
		run, bytes := t.datagrams.Run(pkts[n:])
		if p.paths.prefersDatagrams(bytes, len(pkts[n].Header)+len(pkts[n].Payload)) {
			if n > 0 {
				break
			}
			p.paths.follow = max(p.paths.follow-1, 0)
			if bytes >= leastRun {
				p.paths.follow = following
			}
			return run, datagramPath
		}
		n += run
	}
	return n, framePath
}

// prefersDatagrams reports whether a run of so many bytes, whose first packet has so many,
// takes datagrams.
func (p *peerPaths) prefersDatagrams(bytes, first int) bool {
	follows := p.follow > 0 && first >= followSize
	return p.works[datagramPath].Load() && (bytes >= leastRun || follows || !p.works[framePath].Load())
}

// Receiving datagrams takes a system call, which finds nothing nearly always where
// messages are short. So each Poll looks for datagrams while they come; after so many Polls
// without any, every sixteenth does.
const (
	warm   = 64
	seldom = 16
)

// pollDatagrams lends packets that have arrived as datagrams.
func (t *Transport) pollDatagrams(dst []transport.In) (n int) {
	t.idlePolls++
	if t.datagrams == nil || len(dst) == 0 || t.idlePolls > warm && t.idlePolls%seldom != 0 {
		return 0
	}
	if n = t.datagrams.Poll(dst); n > 0 {
		t.idlePolls = 0
	}
	return t.sift(dst[:n], datagramPath)
}

// sift removes trials from the packets that have arrived.
func (t *Transport) sift(in []transport.In, w path) (n int) {
	for i := range in {
		if !t.onTrial(w, in[i].Data) {
			in[n] = in[i]
			n++
		}
	}
	return n
}

// Path says what packets to a peer take, for users to read.
func (t *Transport) Path(rank int) string {
	frames := "raw frames"
	if c := t.frames(); c.Refused > 0 {
		frames = fmt.Sprintf("raw frames (the kernel refused %d: %v)", c.Refused, c.Refusal)
	}
	p := t.peers.Get(rank)
	switch {
	case p == nil || !p.paths.both:
		return frames
	case p.paths.proven():
		return frames + ", and UDP for long ones: " + t.datagrams.Path(rank)
	case p.paths.works[datagramPath].Load():
		return "UDP, since raw frames do not get through: " + t.datagrams.Path(rank)
	default:
		return frames
	}
}
