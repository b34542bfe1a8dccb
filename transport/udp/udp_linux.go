package udp

import (
	"fmt"
	"sync"

	"weft/internal/doorbell"
	"weft/internal/sys"
	"weft/transport"
)

// Config shapes the transport of a process.
type Config struct {
	Bind   string // address to use, port 0 for any; default "127.0.0.1:0"
	MTU    int    // longest packet in bytes; 0 for what the interface takes
	Buffer int    // of the socket in bytes, in each direction; default 4 MiB
	Bell   transport.Doorbell

	// OneSegment refuses packets that have crossed a router, and marks those we send as
	// not having done so (RFC 5082).
	OneSegment bool
}

// Transport implements transport.Transport.
type Transport struct {
	card   card
	socket *sys.UDPSocket
	alarm  *doorbell.Alarm
	peers  sync.Map // rank to *peer
	last   *peer

	// What has been received and not yet lent.
	datagrams, next int
	rest            []byte // of the datagram being cut
	segment         int
}

type peer struct {
	rank   int
	addr   *sys.UDPAddr
	mtu    int
	single int // runs that are sent packet by packet before the kernel is asked again to cut one
}

// Open binds a socket.
func Open(cfg Config) (*Transport, error) {
	bind, err := resolve(cfg.Bind)
	if err != nil {
		return nil, err
	}
	if cfg.Buffer == 0 {
		cfg.Buffer = 4 << 20
	}
	mtu := cfg.MTU
	if mtu == 0 {
		mtu = interfaceMTU(bind.Addr())
	}
	if mtu < minMTU || mtu > MaxMTU {
		return nil, fmt.Errorf("weft: udp: MTU %d: must be from %d to %d", mtu, minMTU, MaxMTU)
	}
	socket, at, err := sys.OpenUDP(bind, cfg.Buffer)
	if err != nil {
		return nil, fmt.Errorf("weft: udp: %v: %w", bind, err)
	}
	if cfg.OneSegment {
		if err := socket.OneSegment(); err != nil {
			socket.Close()
			return nil, fmt.Errorf("weft: udp: %w", err)
		}
	}
	t := &Transport{card: card{at, mtu}, socket: socket}
	if t.alarm, err = doorbell.NewAlarm(cfg.Bell, socket.FD()); err != nil {
		socket.Close()
		return nil, fmt.Errorf("weft: udp: %w", err)
	}
	return t, nil
}

// Caps says what UDP can do.
func (t *Transport) Caps() transport.Caps {
	return transport.Caps{Name: "udp", MTU: t.card.mtu}
}

// Card is the address of the socket, and the longest packet that is welcome.
func (t *Transport) Card() string { return t.card.String() }

// Dial remembers where a peer is.
func (t *Transport) Dial(rank int, text string) error {
	c, err := parseCard(text)
	if err != nil {
		return err
	}
	if c.addr.Addr().Is4() != t.card.addr.Addr().Is4() {
		return fmt.Errorf("weft: udp: peer %d is at %v and we are at %v", rank, c.addr, t.card.addr)
	}
	t.peers.Store(rank, &peer{rank: rank, addr: t.socket.NewUDPAddr(c.addr), mtu: min(c.mtu, t.card.mtu)})
	return nil
}

// PeerMTU returns the longest packet that both we and a dialled peer take.
func (t *Transport) PeerMTU(rank int) int {
	if v, ok := t.peers.Load(rank); ok {
		return v.(*peer).mtu
	}
	return t.card.mtu
}

// Lane returns nil: packets are gathered, since each system call costs as much
// as many of them.
func (t *Transport) Lane(peer int) transport.Lane { return nil }

// Send sends packets. Runs of equal length to one peer leave together.
func (t *Transport) Send(pkts []transport.Out) int {
	for i := 0; i < len(pkts); {
		p := t.last
		if p == nil || p.rank != pkts[i].Peer {
			v, ok := t.peers.Load(pkts[i].Peer)
			if !ok {
				return i
			}
			p = v.(*peer)
			t.last = p
		}
		n := 1
		if t.socket.GSO {
			n, _ = Run(pkts[i:])
		}
		sent := t.send(p, pkts[i:i+n])
		if i += sent; sent < n {
			return i
		}
	}
	return len(pkts)
}

// patience is how many runs are sent packet by packet to a peer before it is tried again
// to have one cut: the route may have become wider.
const patience = 64

// send sends a run of packets to a peer, and returns how many left.
func (t *Transport) send(p *peer, pkts []transport.Out) int {
	if len(pkts) > 1 && p.single > 0 {
		p.single--
	} else if len(pkts) > 1 {
		ok, single := t.socket.SendSegments(p.addr, size(&pkts[0]), len(pkts), func(i int) ([]byte, []byte) {
			return pkts[i].Header, pkts[i].Payload
		})
		if ok {
			return len(pkts)
		}
		if !single {
			return 0
		}
		p.single = patience
	}
	for i := range pkts {
		if !t.socket.Send(p.addr, pkts[i].Header, pkts[i].Payload) {
			return i
		}
	}
	return len(pkts)
}

func size(o *transport.Out) int { return len(o.Header) + len(o.Payload) }

// Run returns how many packets, of those at the start, can be sent as one datagram that
// the kernel cuts, and how many bytes they have: those to one peer, of equal size but for
// a shorter last one.
func Run(pkts []transport.Out) (n, bytes int) {
	const most = 60000 // bytes in a datagram, and 64 packets
	each := size(&pkts[0])
	bytes = each
	for n = 1; n < min(len(pkts), 64); n++ {
		s := size(&pkts[n])
		if pkts[n].Peer != pkts[0].Peer || s > each || bytes+s > most {
			return n, bytes
		}
		bytes += s
		if s < each {
			return n + 1, bytes
		}
	}
	return n, bytes
}

// Pending reports true: only a system call can tell.
func (t *Transport) Pending() bool { return true }

// Poll lends packets that have arrived.
func (t *Transport) Poll(dst []transport.In) int {
	n := 0
	for n < len(dst) {
		if len(t.rest) == 0 {
			if t.next == t.datagrams {
				if n > 0 {
					return n // a new batch would overwrite what is lent
				}
				t.next, t.datagrams = 0, t.socket.Recv()
				if t.datagrams == 0 {
					return 0
				}
			}
			t.rest, t.segment = t.socket.Datagram(t.next)
			t.next++
			if len(t.rest) == 0 {
				continue
			}
		}
		var pkt []byte
		pkt, t.rest = cut(t.rest, t.segment)
		dst[n] = transport.In{From: -1, Data: pkt}
		n++
	}
	return n
}

// cut takes the first packet off a datagram that the kernel may have joined.
func cut(b []byte, segment int) (pkt, rest []byte) {
	if segment <= 0 || segment >= len(b) {
		return b, nil
	}
	return b[:segment:segment], b[segment:]
}

// Release ends the loan of the last Poll.
func (t *Transport) Release() {}

// Forget does nothing: a peer that lives will find us silent.
func (t *Transport) Forget(peer int) {}

// Arm makes the next arrival ring the doorbell.
func (t *Transport) Arm() { t.alarm.Arm() }

// Memory returns nil: another host's memory cannot be mapped.
func (t *Transport) Memory() transport.Memory { return nil }

// MemoryBytes returns what the receive buffers hold.
func (t *Transport) MemoryBytes() uint64 { return uint64(t.socket.MemoryBytes()) }

// Close closes the socket.
func (t *Transport) Close() error {
	t.alarm.Close()
	t.socket.Close()
	return nil
}
