package traffic

import (
	"testing"
	"time"

	"weft/internal/sim"
)

// TestBeside: beside TCP connections that fill the queue of a port, the links to one host keep what one flow more would
// have, or half as much again, or half of it: beside one a third to two thirds of what all carry, beside three 15 to 35
// parts in a hundred. It is so if their processes do not look at the network all the time, and if TCP was there first,
// so that the links have never seen the queue empty.
func TestBeside(t *testing.T) {
	for _, c := range []struct {
		senders, rivals int
		order           Order
		nap             time.Duration
		least, most     float64
	}{
		{1, 1, LinksFirst, 0, 1. / 3, 2. / 3},
		{1, 1, LinksFirst, 300 * time.Microsecond, 1. / 3, 2. / 3},
		{7, 1, LinksFirst, 0, 1. / 3, 2. / 3},
		{7, 1, LinksFirst, 300 * time.Microsecond, 1. / 3, 2. / 3},
		{1, 3, TCPFirst, 0, 0.15, 0.35},
		{1, 3, TCPFirst, 500 * time.Microsecond, 0.15, 0.35},
	} {
		b, err := RunBeside(Case{Topology: "crossbar", Hosts: c.senders + c.rivals + 1, MTU: 1500, Access: 40e9,
			Wire: sim.Wire{Bandwidth: 1e9, Delay: 25 * time.Microsecond, Queue: 256 << 10}}, c.senders, c.rivals, c.order, c.nap)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%+v: share %.2f, %+v", c, b.Share(), b)
		if s := b.Share(); s < c.least || s > c.most || b.Weft+b.TCP < 0.9 || c.order == LinksFirst && b.Alone < 0.9 {
			t.Errorf("%+v: share %.2f, %+v", c, s, b)
		}
	}
}
