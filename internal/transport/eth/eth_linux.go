package eth

import (
	"encoding/binary"
	"fmt"
	"strings"

	"weft/internal/counters"
	"weft/internal/doorbell"
	"weft/internal/sys"
	"weft/internal/transport"
	"weft/internal/transport/udp"
)

// Config shapes the transport of a process.
type Config struct {
	Interface string // or several, with commas: a trunk
	EtherType uint16 // 0 means EtherType
	MTU       int    // longest packet in bytes; 0 for what the interface takes
	Job       uint64
	Rank      int
	Bell      transport.Doorbell

	// FramesOnly sends everything as raw frames, in order. Otherwise long packets go as
	// UDP datagrams where the interface has an address, and may overtake or be overtaken.
	FramesOnly bool

	// NoSegment and NoGRO are those of package udp.
	NoSegment, NoGRO bool
}

// Transport implements transport.Transport.
type Transport struct {
	transport.Network

	cfg   Config
	card  card
	ports []port
	kept  error // why CAP_NET_RAW was not given up
	alarm *doorbell.Alarm
	peers transport.PeerTable[peer]

	datagrams *udp.Transport // of the datagram path, or nil
	trial     []byte         // the trial that is being sent
	answers   []answer       // to trials, to be sent at the end of Poll
	idlePolls int            // polls since a datagram has come
	truncated uint64         // frames that were cut off
}

// A peer is a rank that frames are sent to.
type peer struct {
	rank  int
	mtu   int
	heads []frameHead // of frames to it by each port, but for the length
	turn  int32       // the port that takes the next frame
	paths peerPaths
}

// A frameHead is what precedes a packet in a frame: the Ethernet header, and ours.
type frameHead [sys.PacketHead + headSize]byte

// Open opens a socket on each interface. It needs CAP_NET_RAW, which an ordinary
// user's process gives up then.
func Open(cfg Config) (*Transport, error) {
	if cfg.EtherType == 0 {
		cfg.EtherType = EtherType
	}
	t := &Transport{cfg: cfg, card: card{mtu: maxMTU}}
	names := strings.Split(cfg.Interface, ",")
	if len(names) > maxDevices {
		return nil, fmt.Errorf("weft: eth: %d interfaces: at most %d make a trunk", len(names), maxDevices)
	}
	var fds []int
	for _, name := range names {
		p, mtu, err := openPort(&cfg, name)
		if err != nil {
			t.closePorts()
			return nil, err
		}
		t.ports = append(t.ports, p)
		t.card.macs = append(t.card.macs, p.mac)
		t.card.mtu = min(t.card.mtu, mtu)
		fds = append(fds, p.FD())
	}
	t.openDatagrams(names[0])
	t.kept = sys.DropNetworkCapabilities()
	var err error
	if t.alarm, err = doorbell.NewAlarm(cfg.Bell, fds...); err != nil {
		t.closePorts()
		return nil, fmt.Errorf("weft: eth: %w", err)
	}
	return t, nil
}

// closePorts closes the sockets that are open, after a failure to open all or at the end.
func (t *Transport) closePorts() {
	for i := range t.ports {
		t.ports[i].Close()
	}
	if t.datagrams != nil {
		t.datagrams.Close()
	}
}

// Device says how frames come and go.
func (t *Transport) Device() string {
	s := "AF_PACKET"
	if len(t.ports) > 1 {
		s = fmt.Sprintf("a trunk of %d, %s", len(t.ports), s)
	}
	if t.kept != nil {
		s += fmt.Sprintf("; the privilege was kept: %v", t.kept)
	}
	return s
}

// Caps says what Ethernet can do.
func (t *Transport) Caps() transport.Caps {
	devices := len(t.ports)
	if t.datagrams != nil {
		devices++
	}
	return transport.Caps{Name: "eth", MTU: t.card.mtu, Devices: devices}
}

// Card is the address of the interface, and the longest packet that is welcome.
func (t *Transport) Card() string { return t.card.String() }

// Dial remembers where a peer is.
func (t *Transport) Dial(rank int, text string) error {
	c, err := parseCard(text)
	if err != nil {
		return err
	}
	p := &peer{rank: rank, mtu: min(c.mtu, t.card.mtu), heads: make([]frameHead, len(t.ports))}
	p.paths.both = t.card.onSegment(c) && t.datagrams.Dial(rank, c.udp) == nil
	for i := range t.ports {
		head, err := sys.EthernetHeader(c.macs[i%len(c.macs)], t.ports[i].mac, t.cfg.EtherType)
		if err != nil {
			return err
		}
		head = binary.BigEndian.AppendUint64(head, t.cfg.Job)
		head = binary.BigEndian.AppendUint32(head, uint32(rank))
		copy(p.heads[i][:], head)
	}
	t.peers.Add(rank, p)
	return nil
}

// PeerMTU returns the longest packet that both sides take, by either path.
func (t *Transport) PeerMTU(rank int) int {
	p := t.peers.Get(rank)
	switch {
	case p == nil:
		return t.card.mtu
	case !p.paths.both:
		return p.mtu
	}
	return min(p.mtu, t.datagrams.PeerMTU(rank))
}

// Resized returns the peers whose PeerMTU has changed: UDP's path to them has.
func (t *Transport) Resized() []int {
	if t.datagrams == nil {
		return nil
	}
	return t.datagrams.Resized()
}

// Counts returns the counts so far, of frames and datagrams.
func (t *Transport) Counts() (c counters.Local) {
	if t.datagrams != nil {
		c = t.datagrams.Counts()
	}
	f := t.frames()
	c.Overflows += f.Overflows
	c.Truncated += t.truncated
	c.Unsent += f.Refused
	return c
}

// frames returns what the ports have counted.
func (t *Transport) frames() (c sys.SocketCounts) {
	for i := range t.ports {
		c.Add(t.ports[i].Counts())
	}
	return c
}

// Send sends packets, as many with one system call as possible.
func (t *Transport) Send(pkts []transport.Out) int {
	for done := 0; done < len(pkts); {
		n, w := t.split(pkts[done:])
		taken := 0
		if w == datagramPath {
			taken = t.datagrams.Send(pkts[done : done+n])
		} else {
			taken = t.sendFrames(pkts[done : done+n])
		}
		if done += taken; taken < n {
			return done
		}
	}
	return len(pkts)
}

// sendFrames sends packets as frames. Over a trunk those to a peer take the ports in
// turn; what a port does not take is lost.
func (t *Transport) sendFrames(pkts []transport.Out) int {
	for done := 0; done < len(pkts); {
		n := t.gather(pkts[done:])
		if n == 0 {
			return done
		}
		taken := n
		for i := range t.ports {
			p := &t.ports[i]
			if p.put > 0 {
				if k := p.Send(p.put); len(t.ports) == 1 {
					taken = k
				}
			}
		}
		done += taken
		if taken < n {
			return done
		}
	}
	return len(pkts)
}

// gather puts packets into frames, in order, until a port has no room.
func (t *Transport) gather(pkts []transport.Out) (n int) {
	for i := range t.ports {
		t.ports[i].put = 0
	}
	for n < len(pkts) {
		o := &pkts[n]
		to := t.peers.Sending(o.Peer)
		if to == nil {
			break
		}
		p := &t.ports[to.turn]
		if p.put == sys.PacketBatch {
			break
		}
		head := &to.heads[to.turn]
		binary.BigEndian.PutUint16(head[sys.PacketHead+12:], uint16(len(o.Header)+len(o.Payload)))
		p.Put(p.put, head[:], o.Header, o.Payload)
		p.put++
		n++
		if to.paths.both {
			t.datagrams.Passed(o.Peer, o.Again)
		}
		if to.turn++; int(to.turn) == len(t.ports) {
			to.turn = 0
		}
	}
	return n
}

// Pending reports whether a frame lies in a ring.
func (t *Transport) Pending() bool {
	for i := range t.ports {
		if t.ports[i].Pending() {
			return true
		}
	}
	return false
}

// Poll lends packets that have arrived.
func (t *Transport) Poll(dst []transport.In) int {
	n := 0
	for i := range t.ports {
		for n < len(dst) {
			f := t.ports[i].Recv()
			if f == nil {
				break
			}
			if pkt := unwrap(f); pkt != nil {
				dst[n] = transport.In{From: -1, Data: pkt}
				n++
			} else {
				t.truncated++
			}
		}
	}
	n = t.sift(dst[:n], framePath)
	n += t.pollDatagrams(dst[n:])
	t.reply()
	if n == 0 {
		t.Release() // frames that were none of ours
	}
	return n
}

// unwrap returns the packet in a frame, or nil if it is cut off.
func unwrap(frame []byte) []byte {
	const (
		head = sys.PacketHead + headSize
		tag  = 4
	)
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
func (t *Transport) Release() {
	for i := range t.ports {
		t.ports[i].Release()
	}
}

// Arm makes the next arrival ring the doorbell.
func (t *Transport) Arm() {
	t.alarm.Arm()
	if t.datagrams != nil {
		t.datagrams.Arm()
	}
}

// MemoryBytes returns what the rings hold.
func (t *Transport) MemoryBytes() (n uint64) {
	for i := range t.ports {
		n += uint64(t.ports[i].MemoryBytes())
	}
	if t.datagrams != nil {
		n += t.datagrams.MemoryBytes()
	}
	return n
}

// Close closes the sockets.
func (t *Transport) Close() error {
	t.alarm.Close()
	t.closePorts()
	return nil
}
