package mapper

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"syscall"
	"time"

	"weft/internal/sys"
	"weft/lab/netlab"
	"weft/lab/switches/fabric"
)

// Cables are a network of switches on one machine: each host and each switch is a network namespace, and each link a
// pair of virtual Ethernet interfaces. Linux has no switch that routes by turns, so goroutines here are the switches:
// each reads the frames of one interface, takes a turn off, and writes the frame to another.
//
// Since all switches are here, Cables know how many frames are on their way. So a mapper need not guess how long it
// must wait for a scout: when no frame is left, none comes back.
type Cables struct {
	lab   *netlab.Lab
	net   *fabric.Network
	nodes [][]*os.File // sockets, of hosts and then of switches, by port; nil: no link
	began time.Time

	mu      sync.Mutex
	idle    *sync.Cond // flying is 0
	flying  int        // frames on their way
	mapper  int        // its host
	first   int        // the number of the first scout of a batch
	replies []int
	readers sync.WaitGroup
}

// etherType is that of scouts: one of those for experiments.
const etherType = 0x88b5

// Lay makes the namespaces and links of a network. It needs root.
func Lay(n *fabric.Network) (c *Cables, err error) {
	var cables []netlab.Cable
	for _, l := range n.Links {
		cables = append(cables, netlab.Cable{A: node(n, l.A), NameA: portName(l.A), B: node(n, l.B), NameB: portName(l.B)})
	}
	c = &Cables{net: n, began: time.Now()}
	c.idle = sync.NewCond(&c.mu)
	if c.lab, err = netlab.MakeCables(len(n.Hosts)+len(n.Switches), cables); err != nil {
		return nil, err
	}
	for h := range n.Hosts {
		c.nodes = append(c.nodes, make([]*os.File, 1))
		err = errors.Join(err, c.open(fabric.AtHost(h)))
	}
	for s, sw := range n.Switches {
		c.nodes = append(c.nodes, make([]*os.File, len(sw.Ports)))
		for p := range sw.Ports {
			err = errors.Join(err, c.open(fabric.At(s, p)))
		}
	}
	if err != nil {
		return nil, errors.Join(err, c.Close())
	}
	for i, ports := range c.nodes {
		for p, f := range ports {
			if f != nil {
				c.readers.Go(func() { c.read(i, p, f) })
			}
		}
	}
	return c, nil
}

// node returns the number of the namespace of a host or a switch.
func node(n *fabric.Network, e fabric.End) int {
	if e.IsHost() {
		return e.Host
	}
	return len(n.Hosts) + e.Switch
}

// portName returns the name of an interface.
func portName(e fabric.End) string { return fmt.Sprintf("port%d", e.Port) }

// open opens the socket of an end, if there is a link.
func (c *Cables) open(e fabric.End) error {
	if c.net.LinkAt(e) == fabric.NoLink {
		return nil
	}
	i := node(c.net, e)
	return sys.InNetwork(c.lab.Hosts[i].Namespace, func() error {
		card, err := net.InterfaceByName(portName(e))
		if err != nil {
			return err
		}
		const network = etherType>>8 | etherType&0xff<<8
		fd, err := syscall.Socket(syscall.AF_PACKET, syscall.SOCK_RAW|syscall.SOCK_NONBLOCK|syscall.SOCK_CLOEXEC, network)
		if err != nil {
			return os.NewSyscallError("socket", err)
		}
		c.nodes[i][e.Port] = os.NewFile(uintptr(fd), c.net.EndName(e))
		to := &syscall.SockaddrLinklayer{Protocol: network, Ifindex: card.Index}
		return os.NewSyscallError("bind", syscall.Bind(fd, to))
	})
}

// Close removes the network.
func (c *Cables) Close() error {
	for _, ports := range c.nodes {
		for _, f := range ports {
			if f != nil {
				f.Close()
			}
		}
	}
	c.readers.Wait()
	return c.lab.Remove()
}

// SetUp turns a link on or off, at both ends: the kernel drops a frame for an interface whose other end is off, and
// does not say so.
func (c *Cables) SetUp(link int, up bool) (err error) {
	for _, e := range []fabric.End{c.net.Links[link].A, c.net.Links[link].B} {
		err = errors.Join(err, c.lab.SetUp(node(c.net, e), portName(e), up))
	}
	return err
}

func (c *Cables) now() time.Duration { return time.Since(c.began) }

func (c *Cables) hosts() []string {
	var names []string
	for _, h := range c.net.Hosts {
		names = append(names, h.Name)
	}
	return names
}

func (c *Cables) carry(host int, probes []probe) []int {
	c.mu.Lock()
	c.mapper = host
	c.first += len(c.replies)
	c.replies = make([]int, len(probes))
	for i := range c.replies {
		c.replies[i] = silence
	}
	c.mu.Unlock()
	for i, p := range probes {
		c.write(c.nodes[host][0], flight{kind: p.kind, id: uint32(c.first + i), turns: p.turns, back: p.back})
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for c.flying > 0 {
		c.idle.Wait()
	}
	return c.replies
}

// A flight is a scout in a frame.
type flight struct {
	kind        kind
	id          uint32
	name        uint16 // of the host that answers
	turns, back []int8
}

// write sends a frame. A link that is down loses it.
func (c *Cables) write(to *os.File, f flight) {
	b := make([]byte, 14+9, 14+9+len(f.turns)+len(f.back))
	for i := range 6 {
		b[i] = 0xff
	}
	binary.BigEndian.PutUint16(b[12:], etherType)
	b[14] = byte(f.kind)
	binary.BigEndian.PutUint32(b[15:], f.id)
	binary.BigEndian.PutUint16(b[19:], f.name)
	b[21] = byte(len(f.turns))
	b[22] = byte(len(f.back))
	for _, t := range append(append([]int8{}, f.turns...), f.back...) {
		b = append(b, byte(t))
	}
	c.count(1)
	if _, err := to.Write(b); err != nil {
		c.count(-1)
	}
}

// count notes that frames have left, or have arrived.
func (c *Cables) count(n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.flying += n; c.flying == 0 {
		c.idle.Signal()
	}
}

// read takes the frames that come in at a port.
func (c *Cables) read(i, p int, from *os.File) {
	b := make([]byte, 2048)
	for {
		n, err := from.Read(b)
		switch {
		case errors.Is(err, syscall.ENETDOWN): // the socket says once that its link has been turned off
			continue
		case err != nil:
			return
		}
		f, ok := parseFlight(b[:n])
		switch {
		case !ok:
			continue // not one of ours, such as the kernel's
		case i < len(c.net.Hosts):
			c.arrive(i, f)
		case len(f.turns) > 0:
			if out := p + int(f.turns[0]); out >= 0 && out < len(c.nodes[i]) && c.nodes[i][out] != nil {
				f.turns = f.turns[1:]
				c.write(c.nodes[i][out], f)
			}
		}
		c.count(-1)
	}
}

// parseFlight reads a frame.
func parseFlight(b []byte) (f flight, ok bool) {
	if len(b) < 23 || binary.BigEndian.Uint16(b[12:]) != etherType || len(b) < 23+int(b[21])+int(b[22]) {
		return f, false
	}
	f = flight{kind: kind(b[14]), id: binary.BigEndian.Uint32(b[15:]), name: binary.BigEndian.Uint16(b[19:])}
	turns := int(b[21])
	for i, t := range b[23 : 23+turns+int(b[22])] {
		if i < turns {
			f.turns = append(f.turns, int8(t))
		} else {
			f.back = append(f.back, int8(t))
		}
	}
	return f, true
}

// arrive is what a host does with a scout.
func (c *Cables) arrive(host int, f flight) {
	switch mapper := host == c.mapper; {
	case len(f.turns) > 0: // a host passes nothing on
	case f.kind == asks && !mapper:
		c.write(c.nodes[host][0], flight{kind: answers, id: f.id, name: uint16(host), turns: f.back})
	case f.kind == asks: // the mapper's own scout has found its host
		c.heard(f.id, host)
	case mapper && f.kind == answers:
		c.heard(f.id, int(f.name))
	case mapper:
		c.heard(f.id, itself)
	}
}

// heard records a reply.
func (c *Cables) heard(id uint32, reply int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if i := int(id) - c.first; i >= 0 && i < len(c.replies) && c.replies[i] == silence {
		c.replies[i] = reply
	}
}
