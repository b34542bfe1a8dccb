package traffic

import (
	"testing"
	"time"

	"weft/internal/engine/link"
	"weft/internal/explore"
	"weft/internal/sim"
)

// tenGigabit is a link whose switches hold 256 KiB for each port.
var tenGigabit = sim.Wire{Bandwidth: 10e9, Delay: time.Microsecond, Queue: 256 << 10}

func tree(hosts int, fixed bool) Case {
	return Case{Topology: "fattree:32", Hosts: hosts, Wire: tenGigabit, MTU: 1500, Link: link.Config{FixedWindow: fixed}}
}

// TestIncast: however many hosts send to one, its link is used, nearly nothing is lost after the first round trips,
// all senders have the same share, and short messages get through.
func TestIncast(t *testing.T) {
	for _, senders := range []int{1, 4, 64} {
		r, err := RunIncast(tree(1024, false), senders)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%d senders: %+v", senders, r)
		if r.Goodput < 0.9 || r.Lost > 0.001 || r.Unfair > 0.1 || r.Short > 3*r.Idle {
			t.Errorf("%d senders: %+v", senders, r)
		}
	}
}

// TestExchanges: a halo exchange and an all-to-all are no slower than with a fixed window, although the fixed
// window loses no packet here. Outside of exploration one has long messages, the other short ones.
func TestExchanges(t *testing.T) {
	for name, run := range map[string]func(Case, int) (Exchange, error){"halo": RunHalo, "all to all": RunAllToAll} {
		for _, size := range []int{1 << 10, 64 << 10} {
			if explore.Round() == 0 && (name == "halo") != (size > 1<<10) {
				continue
			}
			c := tree(64, false)
			c.Topology = "fattree:8"
			ours, err := run(c, size)
			if err != nil {
				t.Fatal(err)
			}
			c.Link.FixedWindow = true
			fixed, _ := run(c, size)
			t.Logf("%s, %d bytes: %+v, fixed %+v", name, size, ours, fixed)
			if !ours.Done || ours.Time > fixed.Time {
				t.Errorf("%s, %d bytes: %+v, fixed %+v", name, size, ours, fixed)
			}
		}
	}
}

// TestAfterLosses: a window grows again after a time in which many packets were lost.
func TestAfterLosses(t *testing.T) {
	if g := afterLosses(t); g < 0.9 {
		t.Errorf("goodput %.2f", g)
	}
}

// afterLosses returns the goodput of a flow after a time in which three packets in ten were
// lost.
func afterLosses(t *testing.T) float64 {
	n, err := Open(tree(64, false))
	if err != nil {
		t.Fatal(err)
	}
	n.stream(40, 0)
	n.sim.Faults.Loss = 0.3
	n.For(20 * time.Millisecond)
	n.sim.Faults.Loss = 0
	n.For(20 * time.Millisecond)
	before := n.got[[2]int{40, 0}]
	n.For(20 * time.Millisecond)
	return float64(n.got[[2]int{40, 0}]-before) * 8 / float64(tenGigabit.Bandwidth) / 0.02
}

// TestFlows: every message arrives, whole and once, and hosts forget each other.
func TestFlows(t *testing.T) {
	n, err := Open(tree(32, false))
	if err != nil {
		t.Fatal(err)
	}
	n.forgets = true
	came := 0
	for i := range 31 {
		n.Send(i, i+1, i*1000, func() { came++ })
	}
	n.For(10 * time.Millisecond)
	c := n.Counts()
	if came != 31 || n.got[[2]int{30, 31}] != 30000 || c.Packets == 0 || c.Resent != 0 || n.Refused != 0 {
		t.Errorf("%d came, %+v", came, c)
	}
	if n.hosts[0].peers[1] != nil || n.hosts[1].peers[0] != nil {
		t.Error("hosts know each other though nothing is left to do")
	}
	if _, err := Open(Case{Topology: "nonsense"}); err == nil {
		t.Error("a network that is nonsense")
	}
}
