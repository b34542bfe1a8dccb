package eth

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"

	"weft/internal/sys"
	"weft/transport"
)

// Config shapes the transport of a process.
type Config struct {
	Interface string
	EtherType uint16 // 0 means EtherType
	MTU       int    // longest packet in bytes; 0 for what the interface takes
	Job       uint64
	Rank      int
	Bell      transport.Doorbell

	// Authenticate guards packets against forgery, not against damage only. All
	// ranks must do the same.
	Authenticate bool

	// XDP takes frames off the driver's queue by AF_XDP where that is to be had. It
	// needs CAP_NET_ADMIN and CAP_BPF, and serves one rank for each interface.
	XDP bool
}

// A device sends and receives frames. Its frames are gathered with Put, in
// order, at most as many as Room says, and then sent.
type device interface {
	fmt.Stringer
	Room() int
	Put(i int, head, header, payload []byte)
	Send(n int) (taken int)

	Pending() bool
	Recv() []byte
	Release()

	FDs() []int
	MemoryBytes() int
	Close()
}

// Transport implements transport.Transport.
type Transport struct {
	cfg       Config
	card      card
	device    device
	noXDP     error // why there is no AF_XDP, if it was asked for
	kept      error // why the privilege was not given up
	interrupt *sys.Interrupt
	peers     sync.Map // rank to *peer
	last      *peer
}

type peer struct {
	rank int
	head [sys.PacketHead + headSize]byte // of every frame to it, but for the length
	mtu  int
}

// Open opens a socket on an interface. It needs CAP_NET_RAW, which an ordinary
// user's process gives up then.
func Open(cfg Config) (*Transport, error) {
	if cfg.EtherType == 0 {
		cfg.EtherType = EtherType
	}
	ifc, err := net.InterfaceByName(cfg.Interface)
	if err != nil {
		return nil, fmt.Errorf("weft: eth: interface %q: %w", cfg.Interface, err)
	}
	if len(ifc.HardwareAddr) != 6 {
		return nil, fmt.Errorf("weft: eth: interface %s is no Ethernet", cfg.Interface)
	}
	mtu := min(ifc.MTU-headSize, maxMTU)
	if cfg.MTU != 0 {
		mtu = min(mtu, cfg.MTU)
	}
	if mtu < minMTU {
		return nil, fmt.Errorf("weft: eth: packets of %d bytes on %s: must be at least %d", mtu, cfg.Interface, minMTU)
	}
	socket, err := sys.OpenPacket(ifc, cfg.EtherType, map[int]uint32{
		sys.PacketHead: uint32(cfg.Job >> 32), sys.PacketHead + 4: uint32(cfg.Job), sys.PacketHead + 8: uint32(cfg.Rank),
	})
	if errors.Is(err, os.ErrPermission) {
		return nil, fmt.Errorf("weft: eth: raw Ethernet needs CAP_NET_RAW (grant it with: setcap cap_net_raw+ep PROGRAM): %w", err)
	}
	if err != nil {
		return nil, fmt.Errorf("weft: eth: %s: %w", cfg.Interface, err)
	}
	t := &Transport{cfg: cfg, device: socket}
	if cfg.XDP {
		d, err := openXDP(ifc, socket, cfg.EtherType, cfg.Job, cfg.Rank, false)
		if err == nil {
			t.device, mtu = d, min(mtu, maxXDP)
		}
		t.noXDP = err
	}
	t.kept = sys.DropNetworkCapabilities()
	t.card = card{ifc.HardwareAddr, mtu, cfg.Authenticate}
	if t.interrupt, err = sys.NewInterrupt(cfg.Bell.Ring, t.device.FDs()...); err != nil {
		t.device.Close()
		return nil, fmt.Errorf("weft: eth: %w", err)
	}
	return t, nil
}

// Device says how frames come and go, and why not otherwise.
func (t *Transport) Device() string {
	s := t.device.String()
	if t.noXDP != nil {
		s += fmt.Sprintf("; no AF_XDP: %v", t.noXDP)
	}
	if t.kept != nil {
		s += fmt.Sprintf("; the privilege was kept: %v", t.kept)
	}
	return s
}

// Caps says what Ethernet can do.
func (t *Transport) Caps() transport.Caps {
	return transport.Caps{Name: "eth", MTU: t.card.mtu, Trusted: !t.cfg.Authenticate}
}

// Card is the address of the interface, and the longest packet that is welcome.
func (t *Transport) Card() string { return t.card.String() }

// Dial remembers where a peer is.
func (t *Transport) Dial(rank int, text string) error {
	c, err := parseCard(text)
	if err != nil {
		return err
	}
	if c.auth != t.cfg.Authenticate {
		return fmt.Errorf("weft: eth: rank %d has Authenticate %t, this one %t: all must do the same", rank, c.auth, t.cfg.Authenticate)
	}
	head, err := sys.EthernetHeader(c.mac, t.card.mac, t.cfg.EtherType)
	if err != nil {
		return err
	}
	head = binary.BigEndian.AppendUint64(head, t.cfg.Job)
	head = binary.BigEndian.AppendUint32(head, uint32(rank))
	p := &peer{rank: rank, mtu: min(c.mtu, t.card.mtu)}
	copy(p.head[:], head)
	t.peers.Store(rank, p)
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
// as several of them.
func (t *Transport) Lane(peer int) transport.Lane { return nil }

// Send sends packets, as many with one system call as possible.
func (t *Transport) Send(pkts []transport.Out) int {
	for done := 0; done < len(pkts); {
		n, room := 0, t.device.Room()
		for ; n < room && done+n < len(pkts); n++ {
			o := &pkts[done+n]
			p := t.peer(o.Peer)
			if p == nil {
				break
			}
			binary.BigEndian.PutUint16(p.head[sys.PacketHead+12:], uint16(len(o.Header)+len(o.Payload)))
			t.device.Put(n, p.head[:], o.Header, o.Payload)
		}
		if n == 0 {
			return done
		}
		taken := t.device.Send(n)
		done += taken
		if taken < n {
			return done
		}
	}
	return len(pkts)
}

func (t *Transport) peer(rank int) *peer {
	if p := t.last; p != nil && p.rank == rank {
		return p
	}
	v, ok := t.peers.Load(rank)
	if !ok {
		return nil
	}
	t.last = v.(*peer)
	return t.last
}

// Pending reports whether a frame lies in the ring.
func (t *Transport) Pending() bool { return t.device.Pending() }

// Poll lends packets that have arrived.
func (t *Transport) Poll(dst []transport.In) int {
	n := 0
	for n < len(dst) {
		f := t.device.Recv()
		if f == nil {
			break
		}
		if pkt := unwrap(f); pkt != nil {
			dst[n] = transport.In{From: -1, Data: pkt}
			n++
		}
	}
	if n == 0 {
		t.device.Release() // frames that were none of ours
	}
	return n
}

// unwrap returns the packet in a frame, or nil if it is cut off.
func unwrap(frame []byte) []byte {
	const head, tag = sys.PacketHead + headSize, 4
	if len(frame) > head && frame[12] == 0x81 && frame[13] == 0 {
		frame = frame[tag:] // of a VLAN
	}
	if len(frame) < head {
		return nil
	}
	n := int(binary.BigEndian.Uint16(frame[sys.PacketHead+12:]))
	if n > len(frame)-head {
		return nil
	}
	return frame[head:][:n]
}

// Release ends the loan of the last Poll.
func (t *Transport) Release() { t.device.Release() }

// Arm makes the next arrival ring the doorbell.
func (t *Transport) Arm() { t.interrupt.Arm() }

// Memory returns nil: another host's memory cannot be mapped.
func (t *Transport) Memory() transport.Memory { return nil }

// MemoryBytes returns what the ring holds.
func (t *Transport) MemoryBytes() uint64 { return uint64(t.device.MemoryBytes()) }

// Close closes the socket.
func (t *Transport) Close() error {
	t.interrupt.Close()
	t.device.Close()
	return nil
}
