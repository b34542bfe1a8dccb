package sim

import (
	"fmt"
	"time"
)

// A Topology is the shape of a network: its vertices, of which the first are the machines and the others are switches,
// its links, and one route between any two machines.
type Topology interface {
	// Name returns the text that ParseTopology takes, such as "torus:4x4".
	Name() string

	// Machines, Vertices and Links return the number of each.
	Machines() int
	Vertices() int
	Links() int

	// Next returns the vertex after at on the route between two machines, and the link to it.
	Next(from, at, to int) (next, link int, wire Wire)

	// Ends returns the vertices that a link joins; both are -1 if there is no such link.
	Ends(link int) (from, to int)
}

// A Wire is one direction of a link.
type Wire struct {
	Bandwidth int64         // bits per second; 0: no limit
	Delay     time.Duration // from one end to the other
	Queue     int           // bytes that may wait for it; 0: no limit
}

// Takes returns how long n bytes occupy the wire.
func (w Wire) Takes(n int) time.Duration {
	if w.Bandwidth == 0 {
		return 0
	}
	return time.Duration(float64(n) * 8e9 / float64(w.Bandwidth))
}

// A crossbar joins all machines by one non-blocking switch.
type crossbar struct {
	n    int
	wire Wire // between a machine and the switch
}

// Crossbar returns n machines at one switch, each with a wire to it and one from it. The delay of w is that of the
// whole route.
func Crossbar(n int, w Wire) Topology {
	w.Delay /= 2
	return &crossbar{n, w}
}

func (c *crossbar) Name() string  { return "crossbar" }
func (c *crossbar) Machines() int { return c.n }
func (c *crossbar) Vertices() int { return c.n + 1 }
func (c *crossbar) Links() int    { return 2 * c.n }

// Next goes by way of the vertex n, which is the crossbar itself. Link i leads from machine i to it, link n + i
// back.
func (c *crossbar) Next(_, at, to int) (next, link int, w Wire) {
	if at == c.n {
		return to, c.n + to, c.wire
	}
	return c.n, at, c.wire
}

func (c *crossbar) Ends(link int) (from, to int) {
	if link < c.n {
		return link, c.n
	}
	return c.n, link - c.n
}

// A torus is a grid whose opposite sides are joined. Packets take dimension-order routes: they go along one dimension
// after the other, each time in the shorter direction.
type torus struct {
	size []int
	n    int
	wire Wire
}

// Torus returns a torus of one dimension (a ring) or more.
func Torus(w Wire, size ...int) Topology {
	n := 1
	for _, s := range size {
		n *= s
	}
	return &torus{size, n, w}
}

func (t *torus) Name() string {
	if len(t.size) == 1 {
		return fmt.Sprintf("ring:%d", t.size[0])
	}
	name := "torus:"
	for i, s := range t.size {
		if i > 0 {
			name += "x"
		}
		name += fmt.Sprint(s)
	}
	return name
}

func (t *torus) Machines() int { return t.n }
func (t *torus) Vertices() int { return t.n }
func (t *torus) Links() int    { return t.n * 2 * len(t.size) }

// Next goes one step in the first dimension in which the two vertices differ. The last number of a size varies
// fastest.
func (t *torus) Next(_, at, to int) (next, link int, w Wire) {
	for d, stride := len(t.size)-1, 1; d >= 0; d-- {
		s := t.size[d]
		a := at / stride % s
		b := to / stride % s
		if a != b {
			up := (b - a + s) % s
			if up <= s-up {
				return at + ((a+1)%s-a)*stride, (at*len(t.size)+d)*2 + 0, t.wire
			}
			return at + ((a+s-1)%s-a)*stride, (at*len(t.size)+d)*2 + 1, t.wire
		}
		stride *= s
	}
	return at, 0, t.wire
}

// Ends returns the vertices of a link. A vertex has two links in each dimension, one up and one down: link
// 2·(v·dimensions + d) leads from v up in dimension d, the next number leads down.
func (t *torus) Ends(link int) (from, to int) {
	from = link / 2 / len(t.size)
	d := link / 2 % len(t.size)
	stride := 1
	for i := len(t.size) - 1; i > d; i-- {
		stride *= t.size[i]
	}
	s := t.size[d]
	a := from / stride % s
	step := 1
	if link%2 == 1 {
		step = s - 1
	}
	return from, from + ((a+step)%s-a)*stride
}

// A fatTree is a k-ary n-tree: k machines at each switch of the lowest level, and as many wires up from each switch
// as down.
type fatTree struct {
	k, levels int
	n         int // machines: k to the power of levels
	row       int // switches of one level
	wire      Wire
}

// FatTree returns a fat tree of arity k for at least n machines.
func FatTree(w Wire, k, n int) Topology {
	t := &fatTree{k: k, levels: 1, n: k, row: 1, wire: w}
	for t.n < n {
		t.n *= k
		t.row *= k
		t.levels++
	}
	return t
}

func (t *fatTree) Name() string  { return fmt.Sprintf("fattree:%d", t.k) }
func (t *fatTree) Machines() int { return t.n }
func (t *fatTree) Vertices() int { return t.n + t.levels*t.row }
func (t *fatTree) Links() int    { return 2*t.n + 2*(t.levels-1)*t.row*t.k }

// digit returns digit d of the number of a switch in base k; digit 0 is the most significant.
func (t *fatTree) digit(w, d int) int { return w / t.power(t.levels-2-d) % t.k }

// power returns k to the power e.
func (t *fatTree) power(e int) int {
	p := 1
	for range e {
		p *= t.k
	}
	return p
}

func (t *fatTree) withDigit(w, d, v int) int {
	return w + (v-t.digit(w, d))*t.power(t.levels-2-d)
}

// vertex returns the vertex of switch w of a level; level 0 is the highest.
func (t *fatTree) vertex(w, level int) int { return t.n + level*t.row + w }

// Next goes up until the destination lies below, and then down. On the way up the destination selects one of the
// wires, so that traffic spreads.
func (t *fatTree) Next(_, at, to int) (next, link int, w Wire) {
	if at < t.n {
		return t.vertex(at/t.k, t.levels-1), at, t.wire
	}
	level := (at - t.n) / t.row
	s := (at - t.n) % t.row
	leaf := to / t.k
	below := true
	for d := 0; d < level; d++ {
		below = below && t.digit(s, d) == t.digit(leaf, d)
	}
	switch {
	case !below: // up: from level to level-1, choosing digit level-1
		c := to / t.power(t.levels-1-(level-1)-1) % t.k
		up := t.withDigit(s, level-1, c)
		return t.vertex(up, level-1), t.between(s, level-1, c, false), t.wire
	case level == t.levels-1:
		return to, t.n + to, t.wire
	default:
		down := t.withDigit(s, level, t.digit(leaf, level))
		return t.vertex(down, level+1), t.between(down, level, t.digit(s, level), true), t.wire
	}
}

// between returns the link between switch low of level+1 and the switch of level whose digit is c.
func (t *fatTree) between(low, level, c int, down bool) int {
	id := 2*t.n + 2*((level*t.row+low)*t.k+c)
	if down {
		id++
	}
	return id
}

// Ends returns the vertices of a link. The first 2n links join machines and the switches of the lowest level, up
// and down; the others join two levels, in pairs of up and down.
func (t *fatTree) Ends(link int) (from, to int) {
	switch {
	case link < t.n:
		return link, t.vertex(link/t.k, t.levels-1)
	case link < 2*t.n:
		return t.vertex((link-t.n)/t.k, t.levels-1), link - t.n
	}
	id := (link - 2*t.n) / 2
	c := id % t.k
	low := id / t.k % t.row
	level := id / t.k / t.row
	a := t.vertex(low, level+1)
	b := t.vertex(t.withDigit(low, level, c), level)
	if link%2 == 1 {
		a, b = b, a
	}
	return a, b
}
