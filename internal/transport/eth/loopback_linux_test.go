package eth

import (
	"net"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"weft/internal/doorbell"
	"weft/internal/sys"
	"weft/internal/transport"
	"weft/internal/transport/udp"
)

const loopbackMTU = 1472

// onLoopback returns two transports that have dialled each other: they have no interface for frames, so that they need
// no privilege, and a socket for datagrams on loopback. The trials by raw frames count as answered.
func onLoopback(t *testing.T) (from, to *Transport) {
	t.Helper()
	var both [2]*Transport
	for rank := range both {
		bell := doorbell.NewChan()
		u, err := udp.Open(udp.Config{MTU: loopbackMTU, Bell: bell})
		if err != nil {
			t.Fatal(err)
		}
		e := &Transport{cfg: Config{Job: 7, Rank: rank, Bell: bell}, datagrams: u, trial: make([]byte, loopbackMTU)}
		e.card = card{macs: []net.HardwareAddr{{2, 0, 0, 0, 0, 1}}, mtu: loopbackMTU, udp: u.Card(),
			subnet: netip.MustParsePrefix("127.0.0.1/8")}
		if e.alarm, err = doorbell.NewAlarm(bell); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { e.Close() })
		both[rank] = e
	}
	for rank, e := range both {
		if err := e.Dial(1-rank, both[1-rank].Card()); err != nil {
			t.Fatal(err)
		}
		e.peers.Get(1 - rank).paths.works[framePath].Store(true)
	}
	return both[0], both[1]
}

// poll returns the lengths of the packets that one look lends.
func poll(e *Transport) (lengths []int) {
	var in [64]transport.In
	for _, p := range in[:e.Poll(in[:])] {
		lengths = append(lengths, len(p.Data))
	}
	return lengths
}

// A trial that arrives is answered by the same path, is no packet for the engine, and proves the path. It is as long as
// any packet, and its answer is short.
func TestTrialIsAnswered(t *testing.T) {
	from, to := onLoopback(t)
	p := from.peers.Get(1)
	if path := from.Path(1); path != "raw frames" || p.paths.proven() {
		t.Error(path)
	}
	from.sendTrial(p, datagramPath, 1)
	var raw [8]transport.In
	if n := to.datagrams.Poll(raw[:]); n != 1 || len(raw[0].Data) != loopbackMTU {
		t.Errorf("%d packets, of %d bytes", n, len(raw[0].Data))
	}
	from.sendTrial(p, datagramPath, 1)
	if got := poll(to); got != nil {
		t.Errorf("packets of %d bytes", got)
	}
	if n := from.datagrams.Poll(raw[:]); n != 1 || len(raw[0].Data) != trialSize {
		t.Errorf("answers: %d, of %d bytes", n, len(raw[0].Data))
	}
	if poll(to) != nil || poll(from) != nil || p.paths.proven() {
		t.Error("it is answered twice")
	}
	from.sendTrial(p, datagramPath, 1)
	if poll(to) != nil || poll(from) != nil || !p.paths.proven() {
		t.Error("its answer proves nothing")
	}
	if path := from.Path(1); !strings.HasPrefix(path, "raw frames, and UDP for long ones: ") {
		t.Error(path)
	}
	p.paths.works[framePath].Store(false)
	if path := from.Path(1); !strings.HasPrefix(path, "UDP, since raw frames do not get through: ") {
		t.Error(path)
	}
	if path := from.Path(5); path != "raw frames" {
		t.Errorf("a rank that has not been dialled: %s", path)
	}
}

// Trials are sent with each of the first sixteen rounds, and then with every 256th.
func TestTrialsBecomeRare(t *testing.T) {
	from, to := onLoopback(t)
	p := from.peers.Get(1)
	var sent []int32
	for range 600 {
		from.try(p)
		var in [8]transport.In
		if to.datagrams.Poll(in[:]) > 0 {
			sent = append(sent, p.paths.trials)
		}
	}
	if len(sent) != 18 || sent[15] != 16 || sent[16] != 256 || sent[17] != 512 {
		t.Errorf("trials in rounds %v", sent)
	}
}

// A run of long packets goes together, as datagrams, and packets for others go before it. What is no longer than a run
// must be goes as frames, unless it follows one.
func TestSplit(t *testing.T) {
	from, to := onLoopback(t)
	p := from.peers.Get(1)
	p.paths.works[datagramPath].Store(true)
	if err := from.Dial(2, "02:00:00:00:00:02/1000"); err != nil {
		t.Fatal(err)
	}
	long := slices.Repeat([]transport.Out{{Peer: 1, Header: make([]byte, 72), Payload: make([]byte, loopbackMTU-72)}}, 20)
	other := []transport.Out{{Peer: 2, Header: make([]byte, 100)}, {Peer: 3, Header: make([]byte, 100)}}
	short := []transport.Out{{Peer: 1, Header: make([]byte, followSize-1)}}
	tail := []transport.Out{{Peer: 1, Header: make([]byte, 8), Payload: make([]byte, followSize-8)}}
	check := func(what string, n int, w path, pkts ...[]transport.Out) {
		t.Helper()
		if gotN, gotW := from.split(slices.Concat(pkts...)); gotN != n || gotW != w {
			t.Errorf("%s: %d packets by path %d, not %d by %d", what, gotN, gotW, n, w)
		}
	}
	check("nothing to follow", 1, framePath, tail)
	check("those of others", 2, framePath, other, long)
	check("short ones", 3, framePath, short, other)
	check("a run", 20, datagramPath, long, other)
	check("a short one", 1, framePath, short)
	for range following {
		check("what follows", 1, datagramPath, tail)
	}
	check("what follows too late", 1, framePath, tail)
	if n := from.Send(long); n != 20 || len(poll(to)) != 20 {
		t.Errorf("%d packets were sent, and have not come", n)
	}
	p.paths.both = false
	check("a peer on another segment", 20, framePath, long)
	from.datagrams.Close()
	from.datagrams = nil
	check("without a socket", 22, framePath, long, other)
}

// Datagrams are looked for at each Poll while they come, and at every sixteenth when none has come for long.
func TestDatagramsAreLookedForSeldom(t *testing.T) {
	from, to := onLoopback(t)
	send := func() { from.datagrams.Send([]transport.Out{{Peer: 1, Header: make([]byte, 9)}}) }
	looks := func() (n int) {
		for n = 1; poll(to) == nil; n++ {
			if n == 1000 {
				t.Fatal("nothing comes")
			}
		}
		return n
	}
	for range warm - 1 {
		poll(to)
	}
	if send(); looks() != 1 {
		t.Error("a poll did not look while datagrams may come")
	}
	for range warm {
		poll(to)
	}
	if send(); looks() != seldom {
		t.Error("polls after many without a datagram look not as often as they should")
	}
	send()
	if n := to.Poll(nil); n != 0 || looks() != 1 {
		t.Errorf("%d packets without room for any", n)
	}
}

// What the transport tells of itself holds frames and datagrams.
func TestBothAreCounted(t *testing.T) {
	from, to := onLoopback(t)
	if c := from.Caps(); c.Devices != 1 || c.MTU != loopbackMTU {
		t.Errorf("%+v", c)
	}
	from.datagrams.Send([]transport.Out{{Peer: 1, Header: make([]byte, 70_000)}})
	if c := from.Counts(); c.Unsent != 1 {
		t.Errorf("a datagram that the kernel refuses: %+v", c)
	}
	if from.MemoryBytes() != from.datagrams.MemoryBytes() || from.MemoryBytes() == 0 {
		t.Errorf("%d bytes of memory", from.MemoryBytes())
	}
	bell := to.cfg.Bell
	to.Arm()
	bell.Set(transport.Asleep)
	from.datagrams.Send([]transport.Out{{Peer: 1, Header: make([]byte, 9)}})
	bell.Sleep(transport.Asleep, -1) // for ever, if the datagram does not ring
	if from.Pending() || from.Resized() != nil {
		t.Error("something has come, or changed")
	}
	plain := &Transport{ports: make([]port, 1)}
	if plain.Caps().Devices != 1 || plain.Resized() != nil || plain.Device() != "AF_PACKET" {
		t.Errorf("%+v, %s", plain.Caps(), plain.Device())
	}
	trunk := &Transport{ports: make([]port, 2), kept: net.ErrClosed}
	if got := trunk.Device(); !strings.HasPrefix(got, "a trunk of 2, AF_PACKET; the privilege was kept: ") {
		t.Error(got)
	}
}

// Packets are as long as both sides take, by either path.
func TestPeerMTU(t *testing.T) {
	from, _ := onLoopback(t)
	for rank, mtu := range map[int]string{2: "1000", 3: "9000"} {
		if err := from.Dial(rank, "02:00:00:00:00:02/"+mtu); err != nil {
			t.Fatal(err)
		}
	}
	for rank, want := range map[int]int{1: loopbackMTU, 2: 1000, 3: loopbackMTU, 4: loopbackMTU} {
		if got := from.PeerMTU(rank); got != want {
			t.Errorf("packets of %d bytes to rank %d, not %d", got, rank, want)
		}
	}
	frames, _, _ := strings.Cut(from.Card(), "/")
	small, err := udp.Open(udp.Config{MTU: 1300, Bell: doorbell.NewChan()})
	if err != nil {
		t.Fatal(err)
	}
	defer small.Close()
	if err := from.Dial(5, frames+"/1472 "+small.Card()+" 127.0.0.2/8"); err != nil || from.PeerMTU(5) != 1300 {
		t.Errorf("%v, packets of %d bytes where datagrams are shorter", err, from.PeerMTU(5))
	}
	if err := from.Dial(6, "nonsense"); err == nil || from.peers.Get(6) != nil {
		t.Error("nonsense was dialled")
	}
}

// A trunk has at most four interfaces.
func TestTrunkIsBounded(t *testing.T) {
	for names, want := range map[string]string{"none1,b,c,d": "none1", "none1,b,c,d,e": "at most 4"} {
		if _, err := Open(Config{Interface: names}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", names, err)
		}
	}
}

// Padding comes off, and a frame that is cut off is refused.
func TestUnwrap(t *testing.T) {
	frame := make([]byte, sys.PacketHead+headSize+10)
	frame[sys.PacketHead+13] = 4
	if b := unwrap(frame); len(b) != 4 {
		t.Errorf("%d bytes", len(b))
	}
	tagged := append(append([]byte(nil), frame[:12]...), 0x81, 0, 0, 5)
	if b := unwrap(append(tagged, frame[12:]...)); len(b) != 4 {
		t.Errorf("with a VLAN tag: %d bytes", len(b))
	}
	empty := make([]byte, sys.PacketHead+headSize)
	if b := unwrap(empty); b == nil || len(b) != 0 {
		t.Errorf("an empty packet: %v", b)
	}
	frame[sys.PacketHead+13] = 10
	if b := unwrap(frame); len(b) != 10 {
		t.Errorf("without padding: %d bytes", len(b))
	}
	frame[sys.PacketHead+13] = 11
	for _, cut := range [][]byte{frame, frame[:20], empty[:len(empty)-1], nil} {
		if unwrap(cut) != nil {
			t.Errorf("a frame of %d bytes that is cut off is taken", len(cut))
		}
	}
	for _, kind := range [][]byte{{0x81, 1}, {1, 0}} { // one byte of a tag makes none
		other := append(slices.Clone(empty), 1, 2, 3, 4)
		other[sys.PacketHead+13] = 4
		copy(other[12:], kind)
		if b := unwrap(other); len(b) != 4 {
			t.Errorf("EtherType %x: %v", kind, b)
		}
	}
}
