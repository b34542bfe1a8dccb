package eth

import (
	"bytes"
	"fmt"
	"net/netip"
	"runtime"
	"slices"
	"strings"
	"testing"

	"weft/internal/doorbell"
	"weft/internal/transport"
	"weft/internal/waittest"
	"weft/lab/netlab"
	"weft/lab/netlab/netlabtest"
)

// pair returns two transports on hosts of their own that have dialled each other, each by
// the card that change makes of the other one's.
func pair(t *testing.T, a, b Config, change func(card string) string) (from, to *Transport) {
	t.Helper()
	return pairOn(t, network(t, 2, 1500), a, b, change)
}

// pairOn does so on the hosts of a lab.
func pairOn(t *testing.T, l *netlab.Lab, a, b Config, change func(card string) string) (from, to *Transport) {
	t.Helper()
	open := func(h netlab.Host, rank int, cfg Config) *Transport {
		cfg.Job = 7
		cfg.Rank = rank
		cfg.Bell = doorbell.NewChan()
		e := on(t, h, cfg)
		t.Cleanup(func() { e.Close() })
		return e
	}
	from = open(l.Hosts[0], 0, a)
	to = open(l.Hosts[1], 1, b)
	for _, err := range []error{from.Dial(1, change(to.Card())), to.Dial(0, change(from.Card()))} {
		if err != nil {
			t.Fatal(err)
		}
	}
	return from, to
}

// carry sends runs of long packets, and short ones, until enough of each have arrived, and
// returns how many came as datagrams: those that the receiver had not in its ring.
func carry(t *testing.T, from, to *Transport) {
	t.Helper()
	long := bytes.Repeat([]byte{1}, from.PeerMTU(1))
	var run []transport.Out
	for range 20 {
		run = append(run, transport.Out{Peer: 1, Header: long[:64], Payload: long[64:]})
	}
	short := []transport.Out{{Peer: 1, Header: []byte{2}}}
	got := map[byte]int{}
	for tries := 0; got[1] < 200 || got[2] < 10; tries++ {
		if tries == 1e6 {
			t.Fatalf("%d long packets and %d short ones have arrived", got[1], got[2])
		}
		if tries%100 == 0 {
			from.Send(run)
			from.Send(short)
		}
		for _, e := range []*Transport{to, from} {
			var in [64]transport.In
			for _, p := range in[:e.Poll(in[:])] {
				if !bytes.Equal(p.Data, long) && !bytes.Equal(p.Data, short[0].Header) {
					t.Fatalf("%d bytes are not as they were sent", len(p.Data))
				}
				got[p.Data[0]]++
			}
			e.Release()
		}
		runtime.Gosched()
	}
}

// carryBy carries packets until a path is used: trials may be answered late.
func carryBy(t *testing.T, from, to *Transport, path string) {
	t.Helper()
	waittest.Until(t, "packets go by "+path, func() bool {
		carry(t, from, to)
		got, _, _ := strings.Cut(from.Path(1), ":")
		return got == path
	})
}

// TestPaths: long packets go as datagrams and short ones as frames, where both get through;
// and all take the other path where one does not.
func TestPaths(t *testing.T) {
	same := func(card string) string { return card }
	astray := func(card string) string {
		frames, datagrams, _ := strings.Cut(card, " ")
		address, rest, _ := strings.Cut(datagrams, ":")
		_, rest, _ = strings.Cut(rest, "/")
		return fmt.Sprintf("%s %s:9/%s", frames, address, rest) // nobody hears there
	}
	for _, c := range []struct {
		name   string
		a, b   Config
		change func(string) string
		want   string
	}{
		{"both", Config{}, Config{}, same, "raw frames, and UDP for long ones"},
		{"no frames", Config{EtherType: 0x88b5}, Config{EtherType: 0x88b6}, same, "UDP, since raw frames do not get through"},
		{"no datagrams", Config{}, Config{}, astray, "raw frames"},
		{"frames only", Config{FramesOnly: true}, Config{}, same, "raw frames"},
	} {
		t.Run(c.name, func(t *testing.T) {
			from, to := pair(t, c.a, c.b, c.change)
			carryBy(t, from, to, c.want)
		})
	}
}

// TestPathsOfIPv6: both paths are used between hosts that have IPv6 alone, and packets leave room for its headers.
func TestPathsOfIPv6(t *testing.T) {
	l := netlabtest.New(t, func() (*netlab.Lab, error) { return netlab.IPv6.Make(2, 1500) })
	from, to := pairOn(t, l, Config{}, Config{}, func(card string) string { return card })
	if carryBy(t, from, to, "raw frames, and UDP for long ones"); from.PeerMTU(1) != 1500-48 {
		t.Errorf("packets of %d bytes", from.PeerMTU(1))
	}
}

// TestOnSegment: two subnets tell whether a router lies between, if they are of one family.
func TestOnSegment(t *testing.T) {
	card := func(subnet string) string {
		p := netip.MustParsePrefix(subnet)
		return "02:00:00:00:00:01/1452 " + netip.AddrPortFrom(p.Addr(), 4000).String() + "/1452 " + subnet
	}
	for _, c := range []struct {
		ours, theirs string
		want         bool
	}{
		{card("10.86.0.1/24"), card("10.86.0.2/24"), true},
		{card("10.86.0.1/24"), card("10.86.1.2/24"), false},
		{card("fd86::1/64"), card("fd86::2/64"), true},
		{card("fd86::1/64"), card("fd86:0:0:1::2/64"), false},
		{card("fd86::1/64"), card("fd86::2/128"), false},
		{card("10.86.0.1/24"), card("fd86::2/64"), true}, // nothing tells
		{card("fd86::1/64"), "02:00:00:00:00:01/1484", true},
	} {
		own, err := parseCard(c.ours)
		if err != nil {
			t.Fatal(err)
		}
		if got := (&Transport{card: own}).OnSegment(c.theirs); got != c.want {
			t.Errorf("%s sees %s on its segment: %v", c.ours, c.theirs, got)
		}
	}
}

// TestShortRunsFollow: long packets that are sent soon after a run of them take the same
// path, so that they do not arrive before it.
func TestShortRunsFollow(t *testing.T) {
	from, to := pair(t, Config{}, Config{}, func(card string) string { return card })
	works := &from.peers.Get(1).paths.works
	waittest.Until(t, "both trials are answered", func() bool {
		carry(t, from, to)
		return works[datagramPath].Load() && works[framePath].Load()
	})
	long := make([]byte, from.PeerMTU(1))
	run := slices.Repeat([]transport.Out{{Peer: 1, Header: long}}, 20)
	if _, w := from.split(run); w != datagramPath {
		t.Fatal("a run of long packets goes as frames")
	}
	if _, w := from.split([]transport.Out{{Peer: 1, Header: long[:64], Payload: long[:1]}}); w != datagramPath {
		t.Error("the end of a long message goes as a frame, and arrives before the rest")
	}
	if _, w := from.split([]transport.Out{{Peer: 1, Header: []byte{2}}}); w != framePath {
		t.Error("a short packet goes as a datagram")
	}
	from.split(run)
	for i := range 2 * following {
		want := datagramPath
		if i >= following {
			want = framePath
		}
		if _, w := from.split(run[:1]); w != want {
			t.Errorf("packet %d takes path %d, want %d", i, w, want)
		}
	}
}

// TestTrialsOfStrangers: a trial that another job, or nobody that was dialled, has sent
// changes nothing, and is not answered.
func TestTrialsOfStrangers(t *testing.T) {
	from, to := pair(t, Config{}, Config{}, func(card string) string { return card })
	for _, change := range []func(b []byte){
		func(b []byte) { b[15] ^= 1 }, // job
		func(b []byte) { b[19] = 5 },  // from rank 5
		func(b []byte) { b[23] = 5 },  // for rank 5
	} {
		p := from.peers.Get(1)
		from.sendTrial(p, framePath, 1)
		b := append([]byte(nil), from.trial[:trialSize]...)
		change(b)
		if !to.onTrial(datagramPath, b) || len(to.answers) > 0 {
			t.Errorf("% x is answered", b)
		}
		b[7] = 0
		if !to.onTrial(datagramPath, b) || to.peers.Get(0).paths.works[datagramPath].Load() {
			t.Errorf("% x is believed", b)
		}
	}
}
