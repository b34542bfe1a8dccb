package traffic

import (
	"time"

	"weft/internal/sim"
)

// A Beside is how links and TCP share a port, as parts of what it carries.
type Beside struct {
	Alone  float64 // the links
	Weft   float64 // the links beside TCP
	TCP    float64
	Counts Counts // of the links beside TCP
}

// Share is the part of the links in what both carry.
func (b Beside) Share() float64 { return b.Weft / (b.Weft + b.TCP) }

// RunBeside lets senders send to host 0 as much as they can, first alone and then beside TCP connections from the last
// hosts. The processes of the links do not look at their network for up to nap, again and again.
func RunBeside(c Case, senders, rivals int, nap time.Duration) (b Beside, err error) {
	n, err := Open(c)
	if err != nil {
		return b, err
	}
	for i := range senders {
		n.stream(i+1, 0)
	}
	if nap > 0 {
		for _, h := range n.hosts[:senders+1] {
			h.naps(nap)
		}
	}
	long := max(besideTCP*c.Wire.Takes(c.Wire.Queue), time.Second)
	links := func() (all uint64) {
		for i := range senders {
			all += n.got[[2]int{i + 1, 0}]
		}
		return all
	}
	part := func(bytes uint64) float64 {
		return float64(bytes) * 8 / float64(c.Wire.Bandwidth) / long.Seconds()
	}
	n.For(long / 2)
	before := links()
	n.For(long)
	b.Alone = part(links() - before)
	var tcp []*rival
	for i := range rivals {
		tcp = append(tcp, n.compete(c.Hosts-1-i, 0))
	}
	arrived := func() (all uint64) {
		for _, r := range tcp {
			all += r.got
		}
		return all
	}
	n.For(long / 2)
	before = links()
	got := arrived()
	counts := n.Counts()
	n.For(long)
	b.Weft = part(links() - before)
	b.TCP = part(arrived() - got)
	b.Counts = n.Counts().less(counts)
	return b, nil
}

// besideTCP is for how long shares are counted: so many times what a full queue holds, and a second at least.
const besideTCP = 1000

// An arrival is a packet that waits for its process.
type arrival struct {
	from  int
	bytes []byte
}

// naps lets the process of a host look at its network only after random times of up to most.
func (h *host) naps(most time.Duration) {
	w := h.net.world
	h.asleep = true
	h.wakes = w.Now().Add(w.Between(0, most))
	looked := w.Now()
	w.After(h.wakes.Sub(looked), func() {
		h.asleep = false
		h.self.Since(looked)
		box := h.box
		h.box = nil
		for _, a := range box {
			h.Packet(a.from, a.bytes)
		}
		h.self.Since(sim.Never)
		h.flush()
		w.After(w.Between(0, most), func() { h.naps(most) })
	})
}
