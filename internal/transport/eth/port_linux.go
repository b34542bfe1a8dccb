package eth

import (
	"errors"
	"fmt"
	"net"
	"os"

	"weft/internal/sys"
)

// A device sends and receives frames: a packet socket, or AF_XDP. Frames to send are gathered
// with Put, in order, at most as many as Room says, and then leave with Send.
type device interface {
	fmt.Stringer
	Room() int
	Put(i int, head, header, payload []byte)
	Send(n int) (taken int)

	Pending() bool
	Recv() []byte
	Release()

	FDs() []int
	Counts() sys.SocketCounts
	MemoryBytes() int
	Close()
}

// A port is a device on an interface.
type port struct {
	device
	mac       net.HardwareAddr
	noXDP     error // why there is no AF_XDP, if it was asked for
	put, room int   // frames of the Send under way
}

// openPort opens a device on an interface, and returns the longest packet that it
// takes.
func openPort(cfg *Config, name string) (p port, mtu int, err error) {
	ifc, err := net.InterfaceByName(name)
	if err != nil {
		return p, 0, fmt.Errorf("weft: eth: interface %q: %w", name, err)
	}
	if len(ifc.HardwareAddr) != 6 {
		return p, 0, fmt.Errorf("weft: eth: interface %s is no Ethernet", name)
	}
	mtu = min(ifc.MTU-headSize, maxMTU)
	if cfg.MTU != 0 {
		mtu = min(mtu, cfg.MTU)
	}
	if mtu < minMTU {
		return p, 0, fmt.Errorf("weft: eth: packets of %d bytes on %s: must be at least %d", mtu, name, minMTU)
	}
	socket, err := sys.OpenPacket(ifc, cfg.EtherType, map[int]uint32{
		sys.PacketHead: uint32(cfg.Job >> 32), sys.PacketHead + 4: uint32(cfg.Job), sys.PacketHead + 8: uint32(cfg.Rank),
	})
	if errors.Is(err, os.ErrPermission) {
		return p, 0, fmt.Errorf("weft: eth: raw Ethernet needs CAP_NET_RAW "+
			"(grant it with: setcap cap_net_raw+ep PROGRAM): %w", err)
	}
	if err != nil {
		return p, 0, fmt.Errorf("weft: eth: %s: %w", name, err)
	}
	p = port{device: socket, mac: ifc.HardwareAddr}
	if cfg.XDP {
		d, err := openXDP(ifc, socket, cfg.EtherType, cfg.Job, cfg.Rank)
		if err == nil {
			p.device = d
			mtu = min(mtu, maxXDP)
		}
		p.noXDP = err
	}
	return p, mtu, nil
}
