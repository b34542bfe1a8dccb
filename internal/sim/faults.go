package sim

import "time"

// Faults are the probabilities with which the network loses, repeats, damages or delays a packet.
type Faults struct {
	Loss      float64
	Duplicate float64
	Reorder   float64
	Corrupt   float64
	Replay    float64       // that an old packet is sent again together with this one
	Jitter    time.Duration // the longest extra delay of a reordered packet
}

// None reports whether there are no faults.
func (f Faults) None() bool { return f == Faults{} }

// replayable is how many old packets the network keeps to replay them.
const replayable = 64

// applyFaults decides by chance what happens to a packet, and sends it, if it is not lost.
func (n *Network) applyFaults(p *packet) {
	if len(n.cut) > 0 && n.cut[pair{p.from, p.to}] {
		n.Stats.Cut++
		n.log(p, "is cut off")
		n.recycle(p)
		return
	}
	f := &n.Faults
	if f.None() {
		n.launch(p, 0)
		return
	}
	w := n.world
	if f.Replay > 0 {
		n.remember(p)
		if w.Chance(f.Replay) {
			n.Stats.Replayed++
			n.launch(n.copy(n.recent[w.Rand.IntN(len(n.recent))]), w.Between(0, f.Jitter))
		}
	}
	if w.Chance(f.Loss) {
		n.Stats.Lost++
		n.log(p, "is lost")
		n.recycle(p)
		return
	}
	if w.Chance(f.Duplicate) {
		n.Stats.Duplicated++
		n.launch(n.copy(p), w.Between(0, f.Jitter))
	}
	if w.Chance(f.Corrupt) {
		n.Stats.Damaged++
		p.bytes[w.Rand.IntN(len(p.bytes))] ^= 1 << w.Rand.IntN(8)
		n.log(p, "is damaged")
	}
	if w.Chance(f.Reorder) {
		n.Stats.Reordered++
		n.launch(p, w.Between(0, f.Jitter))
		return
	}
	n.launch(p, 0)
}

// launch sends a packet after a delay, and not before its path is free of clogs.
func (n *Network) launch(p *packet, d time.Duration) {
	if len(n.slow) > 0 {
		d += n.slow[p.from] + n.slow[p.to]
	}
	at := n.world.Now().Add(d)
	if len(n.clogged) > 0 {
		at = max(at, n.clogged[pair{p.from, p.to}])
	}
	if at > n.world.Now() {
		n.world.At(at, p)
	} else {
		p.Act()
	}
}

// copy returns another packet with the same bytes, to be delivered twice or replayed later.
func (n *Network) copy(p *packet) *packet {
	c := n.packet(p.from, p.to)
	c.bytes = append(c.bytes[:0], p.bytes...)
	return c
}

// remember keeps copies of some packets, some of them for a long time.
func (n *Network) remember(p *packet) {
	if len(n.recent) < replayable {
		n.recent = append(n.recent, n.copy(p))
	} else if i := n.world.Rand.IntN(8 * replayable); i < replayable {
		n.recycle(n.recent[i])
		n.recent[i] = n.copy(p)
	}
}

// Cut stops packets from one machine to another until Heal.
func (n *Network) Cut(from, to int) {
	n.world.Logf("%d → %d is cut", from, to)
	n.cut[pair{from, to}] = true
}

// IsCut reports whether packets from one machine to another are stopped by Cut.
func (n *Network) IsCut(from, to int) bool { return n.cut[pair{from, to}] }

// Heal ends a cut.
func (n *Network) Heal(from, to int) {
	n.world.Logf("%d → %d is healed", from, to)
	delete(n.cut, pair{from, to})
}

// Clog holds back the packets from one machine to another for d.
func (n *Network) Clog(from, to int, d time.Duration) {
	n.world.Logf("%d → %d is clogged for %v", from, to, d)
	n.clogged[pair{from, to}] = n.world.Now().Add(d)
	n.world.After(d, func() {
		if n.clogged[pair{from, to}] <= n.world.Now() {
			delete(n.clogged, pair{from, to})
		}
	})
}

// Slow adds d to the delay of all packets from and to a machine.
func (n *Network) Slow(machine int, d time.Duration) {
	n.world.Logf("%d is slow by %v", machine, d)
	n.slow[machine] = d
}

// Narrow makes packets from one machine to another that are longer than bytes get lost silently, like a path with a
// smaller MTU that sends no ICMP; 0 ends that.
func (n *Network) Narrow(from, to, bytes int) {
	n.world.Logf("%d → %d takes packets of %d bytes", from, to, bytes)
	n.narrow[pair{from, to}] = bytes
}
