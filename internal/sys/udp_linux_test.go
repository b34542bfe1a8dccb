package sys

import (
	"bytes"
	"encoding/binary"
	"net/netip"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// message is a control message.
func message(level, kind int32, data []byte) []byte {
	b := make([]byte, unix.CmsgSpace(len(data)))
	h := (*unix.Cmsghdr)(unsafe.Pointer(&b[0]))
	h.Level = level
	h.Type = kind
	h.SetLen(unix.CmsgLen(len(data)))
	copy(b[unix.CmsgLen(0):], data)
	return b
}

func word(n uint32) []byte { return binary.NativeEndian.AppendUint32(nil, n) }

// TestControl: control messages are read wherever they lie, and what is none is not.
func TestControl(t *testing.T) {
	gro := message(solUDP, udpGRO, word(1472))
	drops := message(unix.SOL_SOCKET, unix.SO_RXQ_OVFL, word(7))
	hops := message(unix.IPPROTO_IP, unix.IP_TTL, word(64))
	hops6 := message(unix.IPPROTO_IPV6, unix.IPV6_HOPLIMIT, word(63))
	other := message(unix.IPPROTO_IP, unix.IP_TOS, word(64))
	for _, c := range []struct {
		in   [][]byte
		want control
	}{
		{nil, control{}},
		{[][]byte{gro}, control{segment: 1472}},
		{[][]byte{drops}, control{told: true, dropped: 7}},
		{[][]byte{drops, gro}, control{segment: 1472, told: true, dropped: 7}},
		{[][]byte{gro, hops, other, drops}, control{1472, true, 7, 64}},
		{[][]byte{hops6, gro}, control{segment: 1472, hops: 63}},
		{[][]byte{other, message(solUDP, udpGRO, []byte{1}), gro[:10]}, control{}},
		{[][]byte{message(solUDP, udpGRO, word(1<<31))}, control{segment: -1 << 31}},
	} {
		var got control
		if got.parse(bytes.Join(c.in, nil)); got != c.want {
			t.Errorf("%x: %+v, want %+v", c.in, got, c.want)
		}
	}
}

func FuzzControl(f *testing.F) {
	f.Add(append(message(unix.SOL_SOCKET, unix.SO_RXQ_OVFL, word(7)), message(solUDP, udpGRO, word(1472))...))
	f.Fuzz(func(t *testing.T, b []byte) {
		var c control
		c.parse(b)
	})
}

// openUDP opens a socket on loopback.
func openUDP(t *testing.T, at string, buffer int) (*UDPSocket, *UDPAddr) {
	t.Helper()
	s, bound, err := OpenUDP(netip.MustParseAddrPort(at), buffer, true, true)
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(s.Close)
	return s, s.NewUDPAddr(bound)
}

// TestOverflow: datagrams that find the receive buffer full are counted, and those that
// come after them arrive.
func TestOverflow(t *testing.T) {
	to, at := openUDP(t, "127.0.0.1:0", 8<<10)
	from, _ := openUDP(t, "127.0.0.1:0", 1<<20)
	const sent = 200
	got := 0
	drain := func() {
		for n := to.Recv(); n > 0; n = to.Recv() {
			for i := range n {
				to.Datagram(i)
			}
			got += n
		}
		to.Recv() // it was quiet
	}
	for range sent {
		from.Send(at, make([]byte, 1000), nil)
	}
	drain()
	from.Send(at, []byte("tells of the drops"), nil)
	drain()
	if o := int(to.Counts.Overflows); o == 0 || got+o != sent+1 {
		t.Errorf("%d of %d datagrams came, %d found no room, in a buffer of %d bytes", got, sent+1, o, to.RecvBuffer)
	}
}

// TestPathMTU: the kernel tells how long packets to an address may be.
func TestPathMTU(t *testing.T) {
	for _, at := range []string{"127.0.0.1:0", "[::1]:0"} {
		s, to := openUDP(t, at, 1<<20)
		if n, err := s.PathMTU(to); err != nil || n < 1232 {
			t.Errorf("%s: %d bytes: %v", at, n, err)
		}
		if n := testing.AllocsPerRun(100, func() { s.PathMTU(to) }); n > 0 {
			t.Errorf("%s: to ask allocates %g times", at, n)
		}
	}
}

// TestRefusal: what the kernel will not send counts as lost, by name.
func TestRefusal(t *testing.T) {
	s, _ := openUDP(t, "127.0.0.1:0", 1<<20)
	to := s.NewUDPAddr(netip.MustParseAddrPort("255.255.255.255:9")) // a broadcast, which was not asked for
	if !s.Send(to, []byte("hello"), nil) || s.Counts.Refused != 1 || s.Counts.Refusal != unix.EACCES {
		t.Errorf("%+v", s.Counts)
	}
}
