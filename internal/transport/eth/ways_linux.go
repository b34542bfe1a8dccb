package eth

import (
	"encoding/binary"
	"net"
	"net/netip"

	"weft/internal/transport"
	"weft/internal/transport/udp"
)

// Two ways lead to a peer on the segment: raw frames, which take the least time, and UDP
// datagrams, of which the kernel cuts and joins many in one system call. Runs of long
// packets take datagrams, and so do the short runs between them and soon after; all others
// take raw frames. What overtakes others nevertheless the link puts in order again.
//
// Each way is used when it has proved to work: some switches and clouds drop frames that
// are not IP's, and some hosts refuse datagrams. A trial of the full length goes each way,
// and the peer answers by the same one. Until then everything goes by raw frames, unless
// only datagrams have been answered. Datagrams that have crossed a router are refused: what
// guards packets is chosen for the segment (RFC 5082).

// A way is one of the two.
type way uint8

const (
	byFrame way = iota
	byDatagram
	ways
)

// A trial asks the peer whether packets get through by one way, or answers. Behind the
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

// leastRun is how many bytes a run needs to be worth a system call of its own that the
// receiver must also make.
const leastRun = 8 << 10

// following is how many shorter runs of packets of at least followSize bytes follow a long
// one by its way. By the other they would arrive before it: the link would take it for lost,
// and repeat it. Shorter packets answer what has arrived, or are in a hurry.
const (
	following  = 16
	followSize = 512
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
	t.card.mtu, t.card.udp, t.card.subnet = min(t.card.mtu, mtu), u.Card(), subnet
	t.trial = make([]byte, t.card.mtu)
}

// subnetOf returns an address of an interface with its subnet: IPv4 if there is one.
func subnetOf(name string) (subnet netip.Prefix, ok bool) {
	ifc, err := net.InterfaceByName(name)
	if err != nil {
		return subnet, false
	}
	addrs, err := ifc.Addrs()
	if err != nil {
		return subnet, false
	}
	for _, a := range addrs {
		p, err := netip.ParsePrefix(a.String())
		if err == nil && p.Addr().Is4() {
			return p, true
		}
	}
	return subnet, false
}

// OnSegment reports whether the peer that a card describes is on the segment of our
// interface, as far as the cards tell. It may be called before Dial.
func (t *Transport) OnSegment(text string) bool {
	c, err := parseCard(text)
	return err == nil && (c.udp == "" || t.card.udp == "" || t.card.onSegment(c))
}

// settled reports whether a peer need not be asked any more.
func (p *peer) settled() bool { return p.works[byFrame].Load() && p.works[byDatagram].Load() }

// try asks a peer by each way that has not proved to work, often at first.
func (t *Transport) try(p *peer) {
	p.asked++
	if p.asked > 16 && p.asked%256 != 0 {
		return
	}
	for w := range ways {
		if !p.works[w].Load() {
			t.sendTrial(p, w, 1)
		}
	}
}

// sendTrial sends a trial by one way; answers are short, so that nobody can make us send
// more than we get.
func (t *Transport) sendTrial(p *peer, w way, question uint32) {
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
	if w == byDatagram {
		t.datagrams.Send(out[:])
		return
	}
	t.sendFrames(out[:])
}

// onTrial handles a packet that may be a trial, and reports whether it is one.
func (t *Transport) onTrial(w way, b []byte) bool {
	if t.datagrams == nil || len(b) < trialSize || binary.BigEndian.Uint32(b) != trialMagic {
		return false
	}
	if binary.BigEndian.Uint64(b[8:]) != t.cfg.Job || binary.BigEndian.Uint32(b[20:]) != uint32(t.cfg.Rank) {
		return true
	}
	p := t.peer(int(binary.BigEndian.Uint32(b[16:])))
	switch {
	case p == nil || !p.both:
	case binary.BigEndian.Uint32(b[4:]) != 0:
		t.answers = append(t.answers, answer{p, w})
	default:
		p.works[w].Store(true)
	}
	return true
}

// An answer is owed to a peer.
type answer struct {
	to  *peer
	way way
}

// reply sends the answers that are owed.
func (t *Transport) reply() {
	for _, a := range t.answers {
		t.sendTrial(a.to, a.way, 0)
	}
	t.answers = t.answers[:0]
}

// split returns how many packets, of those at the start, go together by which way.
func (t *Transport) split(pkts []transport.Out) (n int, w way) {
	if t.datagrams == nil {
		return len(pkts), byFrame
	}
	for n < len(pkts) {
		p := t.peer(pkts[n].Peer)
		if p == nil || !p.both {
			n++
			continue
		}
		if !p.settled() {
			t.try(p)
		}
		run, bytes := udp.Run(pkts[n:])
		follows := p.follow > 0 && len(pkts[n].Header)+len(pkts[n].Payload) >= followSize
		if p.works[byDatagram].Load() && (bytes >= leastRun || follows || !p.works[byFrame].Load()) {
			if n > 0 {
				break
			}
			p.follow = max(p.follow-1, 0)
			if bytes >= leastRun {
				p.follow = following
			}
			return run, byDatagram
		}
		n += run
	}
	return n, byFrame
}

// Receiving datagrams takes a system call, which looks for nothing nearly always where
// messages are short. So they are looked for in each Poll while they come, and in every
// sixteenth after a while without.
const (
	warm   = 64
	seldom = 16
)

// pollDatagrams lends packets that have arrived as datagrams.
func (t *Transport) pollDatagrams(dst []transport.In) (n int) {
	t.calm++
	if t.datagrams == nil || len(dst) == 0 || t.calm > warm && t.calm%seldom != 0 {
		return 0
	}
	if n = t.datagrams.Poll(dst); n > 0 {
		t.calm = 0
	}
	return t.sift(dst[:n], byDatagram)
}

// sift removes trials from what has arrived.
func (t *Transport) sift(in []transport.In, w way) (n int) {
	for i := range in {
		if !t.onTrial(w, in[i].Data) {
			in[n] = in[i]
			n++
		}
	}
	return n
}

// Way says by which ways packets go to a peer, for users to read.
func (t *Transport) Way(rank int) string {
	v, ok := t.peers.Load(rank)
	if !ok {
		return "raw frames"
	}
	switch p := v.(*peer); {
	case !p.both:
		return "raw frames"
	case p.settled():
		return "raw frames, and UDP for long ones: " + t.datagrams.Way(rank)
	case p.works[byDatagram].Load():
		return "UDP, since raw frames do not get through: " + t.datagrams.Way(rank)
	default:
		return "raw frames"
	}
}
