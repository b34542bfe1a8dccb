package udp

import (
	"fmt"

	"weft/internal/counters"
	"weft/internal/doorbell"
	"weft/internal/sys"
	"weft/internal/transport"
)

// Config shapes the transport of a process.
type Config struct {
	Bind   string // address to use, port 0 for any; default "127.0.0.1:0"
	MTU    int    // longest packet in bytes; 0 for what the interface takes
	Buffer int    // of the socket in bytes, in each direction; default 4 MiB
	Bell   transport.Doorbell

	// OneSegment refuses packets that have crossed a router, and sends packets so that the
	// peer can tell that they have crossed none ([RFC 5082]).
	OneSegment bool

	// NoSegment and NoGRO keep the kernel from cutting datagrams into packets, and from
	// joining packets that arrive, where that damages them.
	NoSegment, NoGRO bool
}

// Transport implements transport.Transport.
type Transport struct {
	transport.Network

	cfg     Config
	card    card
	socket  *sys.UDPSocket
	alarm   *doorbell.Alarm
	peers   transport.PeerTable[peer]
	resized [2][]int // peers whose MTU has changed: those since Resized, and what it returned
	counts  counters.Local

	// What has been received and not yet lent.
	datagrams, next int
	rest            []byte // of the datagram being cut
	segment         int
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
	socket, at, err := sys.OpenUDP(bind, cfg.Buffer, !cfg.NoSegment, !cfg.NoGRO)
	if err != nil {
		return nil, fmt.Errorf("weft: udp: %v: %w", bind, err)
	}
	if cfg.OneSegment {
		if err := socket.OneSegment(); err != nil {
			socket.Close()
			return nil, fmt.Errorf("weft: udp: %w", err)
		}
	}
	t := &Transport{cfg: cfg, card: card{at, mtu}, socket: socket}
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

// Poll lends packets that have arrived.
func (t *Transport) Poll(dst []transport.In) int {
	n := 0
	for n < len(dst) {
		if len(t.rest) == 0 {
			if t.next == t.datagrams {
				if n > 0 {
					return n // a new batch would overwrite what is lent
				}
				t.next = 0
				t.datagrams = t.socket.Recv()
				if t.datagrams == 0 {
					return 0
				}
			}
			t.rest, t.segment = t.socket.Datagram(t.next)
			t.next++
			if t.segment > 0 && t.segment < len(t.rest) {
				t.counts.Joined++
			}
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

// Arm makes the next arrival ring the doorbell.
func (t *Transport) Arm() { t.alarm.Arm() }

// MemoryBytes returns what the receive buffers hold.
func (t *Transport) MemoryBytes() uint64 { return uint64(t.socket.MemoryBytes()) }

// Counts returns the counts so far.
func (t *Transport) Counts() counters.Local {
	c := t.counts
	s := &t.socket.Counts
	c.Overflows = s.Overflows
	c.Truncated = s.Truncated
	c.Unsent = s.Refused
	return c
}

// Close closes the socket.
func (t *Transport) Close() error {
	t.alarm.Close()
	t.socket.Close()
	return nil
}
