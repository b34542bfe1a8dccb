package traffic

import (
	"testing"
	"time"

	"weft/internal/explore"
	"weft/internal/sim"
)

// TestBeside: beside a TCP connection that fills the queue of a port, the links to one host keep at least a third and
// at most two thirds of what both carry, also if their processes do not look at the network all the time.
func TestBeside(t *testing.T) {
	naps := []time.Duration{0, 300 * time.Microsecond}
	for i, senders := range []int{1, 7} {
		for _, nap := range explore.Choose(naps[i:i+1], naps) {
			c := Case{Topology: "crossbar", Hosts: senders + 2, MTU: 1500, Access: 40e9,
				Wire: sim.Wire{Bandwidth: 1e9, Delay: 25 * time.Microsecond, Queue: 256 << 10}}
			b, err := RunBeside(c, senders, 1, nap)
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%d senders, naps of %v: share %.2f, %+v", senders, nap, b.Share(), b)
			if s := b.Share(); s < 1./3 || s > 2./3 || b.Weft+b.TCP < 0.9 || b.Alone < 0.9 {
				t.Errorf("%d senders, naps of %v: share %.2f, %+v", senders, nap, s, b)
			}
		}
	}
}
