package eth

import (
	"errors"
	"fmt"
	"net"
	"os"

	"weft/internal/sys"
)

// A port is a packet socket on an interface.
type port struct {
	*sys.PacketSocket
	mac net.HardwareAddr
	put int // frames that have been put since the last Send
}

// openPort opens a socket on an interface, and returns the longest packet that the
// interface takes.
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
	return port{PacketSocket: socket, mac: ifc.HardwareAddr}, mtu, nil
}
