package eth

import (
	"encoding/binary"
	"net"
	"net/netip"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"weft/internal/sys"
	"weft/lab/netlab"
	"weft/lab/netlab/netlabtest"
)

// BenchmarkSegments sends 64 bytes to and fro between two hosts with a router between them; both poll. The packets are
// datagrams of a UDP socket, or the same datagrams as frames that this process makes: without a look at routes and
// sockets on the way out, and received by a socket or by a packet socket. (docs/decisions/0028)
func BenchmarkSegments(b *testing.B) {
	for _, c := range []struct {
		name      string
		send, get bool // frames in place of the socket
	}{{"socket", false, false}, {"frames to socket", true, false}, {"frames", true, true}} {
		b.Run(c.name, func(b *testing.B) {
			l := netlabtest.New(b, func() (*netlab.Lab, error) { return netlab.MakeRouted(2, 1500) })
			ends := segmentEnds(b, l)
			var over atomic.Bool
			done := make(chan struct{})
			go func() {
				defer close(done)
				runtime.LockOSThread()
				for ends[1].receive(c.get, &over) {
					ends[1].send(c.send)
				}
			}()
			runtime.LockOSThread()
			var never atomic.Bool
			var trips []time.Duration
			for b.Loop() {
				began := time.Now()
				ends[0].send(c.send)
				ends[0].receive(c.get, &never)
				trips = append(trips, time.Since(began))
			}
			slices.Sort(trips)
			b.ReportMetric(float64(trips[len(trips)/2].Nanoseconds())/2, "ns/one-way")
			over.Store(true)
			<-done
		})
	}
}

// A segmentEnd is a host with a UDP socket, and a packet socket that gets the same datagrams.
type segmentEnd struct {
	socket *sys.UDPSocket
	peer   *sys.UDPAddr
	frames *sys.PacketSocket
	head   []byte // of frames to the peer: Ethernet, IP and UDP
}

const segmentPayload = 64

func (e *segmentEnd) send(frame bool) {
	var payload [segmentPayload]byte
	if !frame {
		e.socket.Send(e.peer, payload[:], nil)
		return
	}
	e.frames.Put(0, e.head, payload[:], nil)
	e.frames.Send(1)
}

// receive waits for a datagram, and reports false when it is over. What the other socket gets is dropped.
func (e *segmentEnd) receive(frame bool, over *atomic.Bool) bool {
	for !over.Load() {
		if frame {
			if e.frames.Recv() != nil {
				e.frames.Release()
				return true
			}
			continue
		}
		if e.socket.Recv() > 0 {
			return true
		}
	}
	return false
}

// segmentEnds opens the sockets. Frames go to the router, whose address the kernel has learned from a first datagram.
func segmentEnds(b *testing.B, l *netlab.Lab) (ends [2]*segmentEnd) {
	var at [2]netip.AddrPort
	inside := func(i int, f func() error) {
		if err := sys.InNetwork(l.Hosts[i].Namespace, f); err != nil {
			b.Fatal(err)
		}
	}
	for i, h := range l.Hosts {
		ends[i] = &segmentEnd{}
		inside(i, func() (err error) {
			bind := netip.AddrPortFrom(netip.MustParseAddr(h.IP.String()), 4000)
			ends[i].socket, at[i], err = sys.OpenUDP(bind, 1<<20, true, true)
			return err
		})
		b.Cleanup(ends[i].socket.Close)
	}
	for i, e := range ends {
		e.peer = e.socket.NewUDPAddr(at[1-i])
		for e.socket.Send(e.peer, make([]byte, 8), nil); ends[1-i].socket.Recv() == 0; {
			runtime.Gosched()
		}
	}
	for i, e := range ends {
		inside(i, func() error {
			ifc, err := net.InterfaceByName(netlab.Interface)
			if err != nil {
				return err
			}
			arp, err := os.ReadFile("/proc/thread-self/net/arp")
			if err != nil {
				return err
			}
			router, err := net.ParseMAC(strings.Fields(strings.Split(string(arp), "\n")[1])[3])
			if err != nil {
				return err
			}
			e.head, err = datagramHead(router, ifc.HardwareAddr, at[i], at[1-i])
			if err != nil {
				return err
			}
			own := at[i].Addr().As4()
			e.frames, err = sys.OpenPacket(ifc, etherTypeIP, map[int]uint32{
				sys.PacketHead + 16: binary.BigEndian.Uint32(own[:]), sys.PacketHead + 20: 4000<<16 | 4000,
			})
			return err
		})
		b.Cleanup(e.frames.Close)
	}
	return ends
}

const etherTypeIP = 0x0800

// datagramHead returns what precedes the payload of a datagram in a frame to the router.
func datagramHead(router, own net.HardwareAddr, from, to netip.AddrPort) ([]byte, error) {
	h, err := sys.EthernetHeader(router, own, etherTypeIP)
	if err != nil {
		return nil, err
	}
	ip := []byte{0x45, 0, 0, 20 + 8 + segmentPayload, 0, 0, 0x40, 0, 64, 17, 0, 0}
	src := from.Addr().As4()
	dst := to.Addr().As4()
	ip = append(append(ip, src[:]...), dst[:]...)
	sum := uint32(0)
	for i := 0; i < len(ip); i += 2 {
		sum += uint32(binary.BigEndian.Uint16(ip[i:]))
	}
	sum = sum>>16 + sum&0xffff
	binary.BigEndian.PutUint16(ip[10:], ^uint16(sum+sum>>16))
	h = append(h, ip...)
	h = binary.BigEndian.AppendUint16(h, from.Port())
	h = binary.BigEndian.AppendUint16(h, to.Port())
	h = binary.BigEndian.AppendUint16(h, 8+segmentPayload)
	return binary.BigEndian.AppendUint16(h, 0), nil // without a checksum, which IPv4 allows
}
