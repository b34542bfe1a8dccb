package sim

import "time"

// Faults says how often the network spoils a packet.
type Faults struct {
	Loss      float64 // probabilities
	Duplicate float64
	Reorder   float64
	Corrupt   float64
	Replay    float64       // of an old packet being sent again with one
	Jitter    time.Duration // the longest extra delay of a reordered packet
}

// None reports whether there are no faults.
func (f Faults) None() bool { return f == Faults{} }

// keep is how many packets are remembered to be replayed.
const keep = 64

// meddle lets chance have its way with a packet, and puts it on its way.
func (n *Network) meddle(p *packet) {
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

// launch puts a packet on its way after a delay, or when its way is no longer
// clogged.
func (n *Network) launch(p *packet, d time.Duration) {
	if len(n.slow) > 0 {
		d += n.slow[p.from] + n.slow[p.to]
	}
	at := n.world.now.Add(d)
	if len(n.clogged) > 0 {
		at = max(at, n.clogged[pair{p.from, p.to}])
	}
	if at > n.world.now {
		n.world.At(at, p)
	} else {
		p.Act()
	}
}

func (n *Network) copy(p *packet) *packet {
	c := n.packet(p.from, p.to)
	c.bytes = append(c.bytes[:0], p.bytes...)
	return c
}

// remember keeps a copy of some packets for a long time.
func (n *Network) remember(p *packet) {
	if len(n.recent) < keep {
		n.recent = append(n.recent, n.copy(p))
	} else if i := n.world.Rand.IntN(8 * keep); i < keep {
		n.recycle(n.recent[i])
		n.recent[i] = n.copy(p)
	}
}

// Cut stops packets from one machine to another until Heal.
func (n *Network) Cut(from, to int) {
	n.world.Logf("%d → %d is cut", from, to)
	n.cut[pair{from, to}] = true
}

// IsCut reports whether that is so now.
func (n *Network) IsCut(from, to int) bool { return n.cut[pair{from, to}] }

// Heal ends a cut.
func (n *Network) Heal(from, to int) {
	n.world.Logf("%d → %d is healed", from, to)
	delete(n.cut, pair{from, to})
}

// Clog holds packets from one machine to another back for d.
func (n *Network) Clog(from, to int, d time.Duration) {
	n.world.Logf("%d → %d is clogged for %v", from, to, d)
	n.clogged[pair{from, to}] = n.world.now.Add(d)
	n.world.After(d, func() {
		if n.clogged[pair{from, to}] <= n.world.now {
			delete(n.clogged, pair{from, to})
		}
	})
}

// Slow makes packets from and to a machine take d longer.
func (n *Network) Slow(machine int, d time.Duration) {
	n.world.Logf("%d is slow by %v", machine, d)
	n.slow[machine] = d
}

// Narrow makes packets from one machine to another get lost that are longer than so many
// bytes, and tells nobody; 0 ends that.
func (n *Network) Narrow(from, to, bytes int) {
	n.world.Logf("%d → %d takes packets of %d bytes", from, to, bytes)
	n.narrow[pair{from, to}] = bytes
}

// Calm ends all faults of the network.
func (n *Network) Calm() {
	n.world.Logf("the network is calm")
	n.Faults = Faults{}
	clear(n.cut)
	clear(n.clogged)
	clear(n.slow)
	clear(n.narrow)
}
