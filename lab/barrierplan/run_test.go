package barrierplan

import (
	"testing"
	"time"

	"weft/internal/engine/coord"
	"weft/internal/sim"
)

// event is a link of the network of [Hayakawa98]: 3 µs a hop, whatever else is under way.
var event = sim.Wire{Delay: 3 * time.Microsecond}

// eventLink is a link of the same network that a packet occupies: 100 Mbps, so 1.28 of the 3 µs.
var eventLink = sim.Wire{Bandwidth: 100e6, Delay: 1720 * time.Nanosecond}

// TestTwoLinks: barriers on the event links of [Hayakawa98] while every node sends 64 KiB to each neighbour. Data
// on its own links changes nothing, whatever their bandwidth. On the event links a barrier takes twice as long if
// the data is sent a packet at a time, and as long as the data if all of it is queued before.
func TestTwoLinks(t *testing.T) {
	data := Data{Bytes: 64 << 10, Packet: 64, Payload: 56}
	apart := data
	slow := data
	paced := data
	apart.Wire = eventLink
	slow.Wire = sim.Wire{Bandwidth: 12.5e6, Delay: 1720 * time.Nanosecond}
	paced.Paced = true
	for _, c := range []struct {
		algorithm coord.Algorithm
		data      Data
		time      time.Duration
	}{
		{coord.ModifiedShuffle, Data{}, 18000},
		{coord.ModifiedShuffle, apart, 18000},
		{coord.ModifiedShuffle, slow, 18000},
		{coord.ModifiedShuffle, paced, 35000},
		{coord.ModifiedShuffle, data, 6013520},
		{coord.Central, Data{}, 60240},
		{coord.Central, slow, 60240},
		{coord.Central, paced, 146360},
	} {
		r, err := Run(Case{Algorithm: c.algorithm, N: 36, Topology: "torus:6x6", Wire: eventLink, Size: 16, Data: c.data})
		if err != nil || r.Time != c.time {
			t.Errorf("%v beside %+v: %d ns, want %d; %v", c.algorithm, c.data, r.Time, c.time, err)
		}
	}
}

// TestHayakawa98: the modified shuffle exchange on 6 × 6 takes 6 hops by the steps of [Hayakawa98] §3.2.1, and master
// and slaves 6 hops each way. The paper has no time and no number of packets: 18 and 36 µs follow from its bound of
// 3 µs a hop, and 216 packets from 36 nodes that send 6 each.
func TestHayakawa98(t *testing.T) {
	r, err := Run(Case{Algorithm: coord.ModifiedShuffle, N: 36, Topology: "torus:6x6", Wire: event, Size: 16})
	if err != nil || r.Messages != 216 || r.Longest != 6 || r.Time != 18*time.Microsecond {
		t.Errorf("%+v, %v", r, err)
	}
	r, err = Run(Case{Algorithm: coord.Central, N: 36, Topology: "torus:6x6", Wire: event, Size: 16})
	if err != nil || r.Messages != 70 || r.Longest != 12 || r.Time != 36*time.Microsecond {
		t.Errorf("%+v, %v", r, err)
	}
}

// TestLarge: at 4,096 members dissemination takes little more than ⌈log2 N⌉ times
// a message.
func TestLarge(t *testing.T) {
	const (
		n    = 4096
		size = 104
	)
	w := sim.Wire{Bandwidth: 10e9, Delay: time.Microsecond}
	r, err := Run(Case{Algorithm: coord.Dissemination, N: n, Topology: "crossbar", Wire: w, Size: size})
	if err != nil {
		t.Fatal(err)
	}
	message := w.Delay + 2*w.Takes(size) // onto the switch, and off it
	if bound := 12 * message; r.Time > bound*12/10 || r.Steps != 12 || r.Messages != 12*n {
		t.Errorf("%+v, bound %v", r, bound)
	}
	tree, err := Run(Case{Algorithm: coord.Tree, Arity: 2, N: n, Topology: "crossbar", Wire: w, Size: size})
	if err != nil || tree.Steps != 2*12 || tree.Messages != 2*(n-1) {
		t.Errorf("%+v, %v", tree, err)
	}
}
