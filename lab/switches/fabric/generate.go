package fabric

import (
	"fmt"
	"math/rand/v2"
)

// Kinds describes the networks that Generate makes.
const Kinds = "switch-tree:PORTS, switch-fattree:PORTS, switch-ring:PORTS or switch-random:PORTS[:SEED]"

// Generate returns a network of a kind for some hosts, with switches of the given number of ports. Hosts are called
// h0, h1, …, switches s0, s1, …. Only a random network uses the seed.
func Generate(kind string, ports, hosts int, seed uint64) (*Network, error) {
	switch {
	case hosts < 1 || hosts > MaxHosts:
		return nil, conflict("a network has 1 to %d hosts, not %d", MaxHosts, hosts)
	case ports < 4 || ports > MaxPorts:
		return nil, conflict("generated switches have 4 to %d ports, not %d", MaxPorts, ports)
	}
	b := &builder{n: New(), ports: ports}
	switch kind {
	case "switch-tree":
		b.tree(hosts)
	case "switch-fattree":
		b.fatTree(hosts)
	case "switch-ring":
		b.ring(hosts)
	case "switch-random":
		b.random(hosts, rand.New(rand.NewPCG(seed, 0x6c696e6b73)))
	default:
		return nil, conflict("there is no kind %q of network: there are %s", kind, Kinds)
	}
	return b.n, b.err
}

// A builder builds a network port by port, and keeps the first error.
type builder struct {
	n     *Network
	ports int
	used  []int // ports, by switch
	err   error
}

// failed keeps the first error, and reports whether there has been one.
func (b *builder) failed(err error) bool {
	if b.err == nil {
		b.err = err
	}
	return b.err != nil
}

// addSwitch adds a switch with no port in use, and returns its number.
func (b *builder) addSwitch() int {
	s, err := b.n.AddSwitch(fmt.Sprintf("s%d", len(b.n.Switches)), b.ports)
	if !b.failed(err) {
		b.used = append(b.used, 0)
	}
	return s
}

// port returns the next free port of a switch.
func (b *builder) port(s int) End {
	b.used[s]++
	return At(s, b.used[s]-1)
}

func (b *builder) free(s int) int { return b.ports - b.used[s] }

// addHost adds a host at the next free port of a switch.
func (b *builder) addHost(s int) {
	h, err := b.n.AddHost(fmt.Sprintf("h%d", len(b.n.Hosts)))
	if !b.failed(err) {
		b.link(AtHost(h), b.port(s))
	}
}

func (b *builder) link(x, y End) {
	_, err := b.n.Connect(x, y)
	b.failed(err)
}

// leaves adds switches with the given number of hosts each, and returns the switches.
func (b *builder) leaves(hosts, each int) []int {
	var all []int
	for hosts > 0 && b.err == nil {
		s := b.addSwitch()
		all = append(all, s)
		for range min(hosts, each) {
			b.addHost(s)
		}
		hosts -= each
	}
	return all
}

// tree builds a tree: one path between any two hosts.
func (b *builder) tree(hosts int) {
	if hosts <= b.ports {
		b.leaves(hosts, b.ports)
		return
	}
	level := b.leaves(hosts, b.ports-1)
	for len(level) > 1 && b.err == nil {
		below := level
		level = nil
		children := b.ports - 1
		if len(below) <= b.ports { // the root needs no port up
			children = b.ports
		}
		for len(below) > 0 && b.err == nil {
			s := b.addSwitch()
			level = append(level, s)
			take := min(children, len(below))
			for _, child := range below[:take] {
				b.link(b.port(child), b.port(s))
			}
			below = below[take:]
		}
	}
}

// fatTree builds a k-ary n-tree, where k is half of the ports: each switch has as many links up as down. The
// switches of a level whose numbers differ in one digit to the base k have the same switches above.
func (b *builder) fatTree(hosts int) {
	k := b.ports / 2
	row := 1 // switches in a level
	levels := 1
	for row*k < hosts {
		row *= k
		levels++
	}
	if row*levels > MaxSwitches {
		b.failed(conflict("a fat tree of switches with %d ports for %d hosts has %d switches; at most %d are allowed",
			b.ports, hosts, row*levels, MaxSwitches))
		return
	}
	below := make([]int, row)
	for w := range row {
		below[w] = b.addSwitch()
		for h := w * k; h < min((w+1)*k, hosts); h++ {
			b.addHost(below[w])
		}
	}
	for stride := 1; stride < row; stride *= k {
		above := make([]int, row)
		for w := range row {
			above[w] = b.addSwitch()
		}
		for w := range row {
			digit := w / stride % k
			for d := range k {
				b.link(b.port(below[w]), b.port(above[w+(d-digit)*stride]))
			}
		}
		below = above
	}
}

// ring joins each switch with two neighbours; the other ports are for hosts.
func (b *builder) ring(hosts int) {
	if hosts <= b.ports {
		b.leaves(hosts, b.ports)
		return
	}
	all := b.leaves(hosts, b.ports-2)
	for i, s := range all {
		if b.err == nil {
			b.link(b.port(s), b.port(all[(i+1)%len(all)]))
		}
	}
}

// random leaves half of the ports for hosts, connects all switches, and then links the remaining ports at random.
// No switch is linked with itself.
func (b *builder) random(hosts int, r *rand.Rand) {
	if hosts <= b.ports {
		b.leaves(hosts, b.ports)
		return
	}
	all := b.leaves(hosts, b.ports/2)
	if b.err != nil {
		return
	}
	for i := 1; i < len(all); i++ {
		to := r.IntN(i)
		for b.free(all[to]) == 0 { // the first i switches have at least 2 ports more than links among them
			to = r.IntN(i)
		}
		b.link(b.port(all[i]), b.port(all[to]))
	}
	var open []int // each switch once for each of its free ports
	for _, s := range all {
		for range b.free(s) {
			open = append(open, s)
		}
	}
	r.Shuffle(len(open), func(i, j int) { open[i], open[j] = open[j], open[i] })
	for i := 0; i+1 < len(open); i += 2 {
		if open[i] != open[i+1] {
			b.link(b.port(open[i]), b.port(open[i+1]))
		}
	}
}
