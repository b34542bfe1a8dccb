package endpoint

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"
)

// NameSize is the length of a name in bytes. Open MPI takes no longer one.
const NameSize = 64

// A name is what fi_getname tells of an endpoint, and other endpoints insert: which it is, and how it is reached.
// Little endian:
//
//	0  1  version
//	1  1  length of the prefix of the address
//	2  2  length of the longest packet that is welcome by UDP
//	4  4  number of the endpoint in its job
//	8  8  job
//	16 8  which start of the endpoint it is
//	24 16 address; of IPv4 as IPv6 maps it
//	40 2  port of UDP
//	42 6  address of the interface for raw Ethernet; zeros: it takes none
//	48 2  length of the longest packet that is welcome there
//	50 2  port of UDP beside raw Ethernet; 0: none
//	52 2  length of the longest packet that is welcome at that
//	54 10 0
type name struct {
	id     int
	job    uint64
	life   uint64
	subnet netip.Prefix // the address, and the length of its network's prefix
	port   uint16
	mtu    uint16
	mac    [6]byte
	frames frames
}

// frames is how raw Ethernet is taken.
type frames struct{ mtu, port, datagram uint16 }

const nameVersion = 1

// errName is the error of a name that is none.
var errName = errors.New("weft: it is not the name of an endpoint of weft of this version")

func (n *name) bytes() (b [NameSize]byte) {
	le := binary.LittleEndian
	b[0] = nameVersion
	b[1] = byte(n.subnet.Bits())
	le.PutUint16(b[2:], n.mtu)
	le.PutUint32(b[4:], uint32(n.id))
	le.PutUint64(b[8:], n.job)
	le.PutUint64(b[16:], n.life)
	addr := n.subnet.Addr().As16()
	copy(b[24:], addr[:])
	le.PutUint16(b[40:], n.port)
	copy(b[42:], n.mac[:])
	le.PutUint16(b[48:], n.frames.mtu)
	le.PutUint16(b[50:], n.frames.port)
	le.PutUint16(b[52:], n.frames.datagram)
	return b
}

// parseName reads a name. The bytes are not trusted: what they say of packets is checked by the transports.
func parseName(b []byte) (n name, err error) {
	le := binary.LittleEndian
	if len(b) < NameSize || b[0] != nameVersion || [10]byte(b[54:NameSize]) != [10]byte{} {
		return n, errName
	}
	addr := netip.AddrFrom16([16]byte(b[24:])).Unmap()
	n = name{
		id: int(le.Uint32(b[4:])), job: le.Uint64(b[8:]), life: le.Uint64(b[16:]),
		subnet: netip.PrefixFrom(addr, int(b[1])), port: le.Uint16(b[40:]), mtu: le.Uint16(b[2:]),
		mac:    [6]byte(b[42:]),
		frames: frames{le.Uint16(b[48:]), le.Uint16(b[50:]), le.Uint16(b[52:])},
	}
	if n.id >= maxID || n.life == 0 || !n.subnet.IsValid() {
		return n, errName
	}
	return n, nil
}

// udpCard is the card of package udp for the endpoint.
func (n *name) udpCard() string {
	return fmt.Sprintf("%v/%d", netip.AddrPortFrom(n.subnet.Addr(), n.port), n.mtu)
}

// ethCard is the card of package eth for the endpoint.
func (n *name) ethCard() string {
	s := fmt.Sprintf("%v/%d", net.HardwareAddr(n.mac[:]), n.frames.mtu)
	if n.frames.port != 0 {
		s += fmt.Sprintf(" %v/%d %v", netip.AddrPortFrom(n.subnet.Addr(), n.frames.port), n.frames.datagram, n.subnet)
	}
	return s
}

// hasFrames reports whether the endpoint takes raw Ethernet.
func (n *name) hasFrames() bool { return n.mac != [6]byte{} }

// setUDP takes over what a card of package udp says.
func (n *name) setUDP(card string) error {
	addr, mtu, err := readCard(card)
	n.port = addr.Port()
	n.mtu = mtu
	return err
}

// setEth takes over what a card of package eth says. UDP beside raw Ethernet is used only if it has the same address as
// the endpoint's own.
func (n *name) setEth(card string) error {
	first, datagrams, _ := strings.Cut(card, " ")
	at := strings.LastIndexByte(first, '/')
	mac, err := net.ParseMAC(first[:max(at, 0)])
	if err != nil || len(mac) != 6 {
		return fmt.Errorf("weft: %q: an endpoint takes raw Ethernet by one interface", card)
	}
	n.mac = [6]byte(mac)
	mtu, err := strconv.ParseUint(first[at+1:], 10, 16)
	n.frames.mtu = uint16(mtu)
	udp, subnet, _ := strings.Cut(datagrams, " ")
	if err != nil || subnet != n.subnet.String() {
		return err
	}
	addr, length, err := readCard(udp)
	n.frames.port = addr.Port()
	n.frames.datagram = length
	return err
}

// readCard reads an address and a length of packets.
func readCard(card string) (netip.AddrPort, uint16, error) {
	at := strings.LastIndexByte(card, '/')
	addr, err := netip.ParseAddrPort(card[:max(at, 0)])
	if err != nil {
		return addr, 0, err
	}
	mtu, err := strconv.ParseUint(card[at+1:], 10, 16)
	return addr, uint16(mtu), err
}
