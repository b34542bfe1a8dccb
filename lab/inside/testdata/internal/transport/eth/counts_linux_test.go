package eth

import (
	"encoding/binary"
	"strings"
	"testing"

	"weft/internal/sys"
	"weft/internal/transport"
	"weft/internal/waittest"
)

// TestCounts: frames that find the ring full, that are cut off, and that the kernel will not send are counted, and the
// next ones arrive.
func TestCounts(t *testing.T) {
	l := network(t, 2, 1500)
	from, to := pairOn(t, l, Config{FramesOnly: true}, Config{FramesOnly: true}, func(card string) string { return card })
	const ring = 8 << 20 // bytes; a slot has 2048
	send := func(frames int) {
		t.Helper()
		for range frames {
			if from.Send([]transport.Out{{Peer: 1, Header: make([]byte, 64)}}) != 1 {
				t.Fatal("no room")
			}
		}
	}
	receive := func() (n int) {
		var in [64]transport.In
		for k := to.Poll(in[:]); k > 0; k = to.Poll(in[:]) {
			n += k
			to.Release()
		}
		return n
	}
	const sent = ring/2048 + 500
	send(sent)
	got := receive()
	if c := to.Counts(); c.Overflows != uint64(sent-got) || c.Overflows < 500 || c.Truncated > 0 {
		t.Errorf("%d of %d frames came: %+v", got, sent, c)
	}
	head := from.peers.Get(1).heads[0]
	binary.BigEndian.PutUint16(head[sys.PacketHead+12:], 100)
	from.ports[0].Put(0, head[:], make([]byte, 40), nil) // of a packet of 100 bytes
	from.ports[0].Send(1)
	send(1)
	if n := receive(); n != 1 || to.Counts().Truncated != 1 {
		t.Errorf("%d packets came: %+v", n, to.Counts())
	}
	if err := l.Hosts[0].SetUp(false); err != nil {
		t.Fatal(err)
	}
	send(3)
	if c := from.Counts(); c.Unsent != 3 || !strings.Contains(from.Path(1), "(the kernel refused 3: network is down)") {
		t.Errorf("%+v: %s", c, from.Path(1))
	}
	if err := l.Hosts[0].SetUp(true); err != nil {
		t.Fatal(err)
	}
	waittest.Until(t, "something comes when the interface is up", func() bool { // which takes a moment
		send(1)
		return receive() > 0
	})
	if n := testing.AllocsPerRun(10, func() { from.Counts() }); n > 0 {
		t.Errorf("to count allocates %g times", n)
	}
}
