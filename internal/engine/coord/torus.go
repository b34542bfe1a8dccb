package coord

// The modified shuffle exchange of [Hayakawa98], repaired (PROTOCOL §9.5.2): the
// members form a torus of rows and columns of up to six. Along each ring they
// form blocks of two, and one of one if the ring is odd. Within a block they tell
// each other; then each block hears from the blocks on both sides. Three blocks
// are all a ring can have: left, own, right. First along the rows, then along
// the columns.

// maxSide is how long a ring may be.
const maxSide = 6

// Torus returns the torus for n members: the largest that is not larger than n.
// The members that are left over are satellites, each of one in the torus.
func Torus(n int) (rows, columns int) {
	for r := 1; r <= maxSide; r++ {
		for c := r; c <= maxSide; c++ {
			if r*c <= n && (r*c > rows*columns || r*c == rows*columns && c-r < columns-rows) {
				rows = r
				columns = c
			}
		}
	}
	return rows, columns
}

// The gates of a member of the torus: those of the first ring, then those of
// the second. Satellites have gates 0 and 1.
const (
	gatePair  = 1 + iota // own arrival, and that of the other in the block
	gateRight            // the block on the right has told
	gateLeft             // the block on the left has told
	gateRing             // all of the ring
	perRing   = gateRing
)

// modifiedShuffle returns the plan of member me of n.
func modifiedShuffle(n, me int) Plan {
	rows, columns := Torus(n)
	core := rows * columns
	if me >= core {
		return Plan{Gates: []Gate{{Inputs: 1, Sends: []Send{{me % core, 0}}}, {Inputs: 1, Done: true}}}
	}
	row := me / columns
	column := me % columns
	gates := make([]Gate, 1+2*perRing)
	gates[0].Inputs = 1
	ring(gates, 0, me, columns, column, func(x int) int { return row*columns + x })
	ring(gates, perRing, me, rows, row, func(x int) int { return x*columns + column })
	end := &gates[2*perRing]
	end.Done = true
	for s := me + core; s < n; s += core {
		gates[0].Inputs++
		end.Sends = append(end.Sends, Send{s, 1})
	}
	return Plan{Gates: gates}
}

// ring adds what a member does along a ring of some length, at place x: from the
// gate before, which opens when it may begin, to the ring's last. At returns the
// member at a place.
func ring(gates []Gate, before, me, length, x int, at func(x int) int) {
	gate := func(g int) int { return before + g }
	send := func(from, to, g int) {
		gates[from].Sends = append(gates[from].Sends, Send{to, gate(g)})
	}
	block := x / 2
	blocks := (length + 1) / 2
	left := 2 * block
	right := min(2*block+1, length-1)
	other := left + right - x
	pair := &gates[gate(gatePair)]
	edge := gate(gatePair)
	end := &gates[gate(gateRing)]

	pair.Inputs = 1
	send(before, me, gatePair)
	if left != right {
		pair.Inputs++
		send(before, at(other), gatePair)
	}
	end.Inputs = 1
	send(edge, me, gateRing)
	if blocks == 1 {
		return
	}
	end.Inputs += 2
	prev := (block + blocks - 1) % blocks
	next := (block + 1) % blocks
	if x == left {
		send(edge, at(min(2*prev+1, length-1)), gateRight)
	}
	if x == right {
		send(edge, at(2*next), gateLeft)
	}
	for _, g := range []int{gateRight, gateLeft} {
		gates[gate(g)].Inputs = 1
		send(gate(g), me, gateRing)
	}
	// The member of a block of two that hears it first tells the other one, whether its own
	// program has arrived or not.
	if left != right && x == right {
		send(gate(gateRight), at(left), gateRight)
	}
	if left != right && x == left {
		send(gate(gateLeft), at(right), gateLeft)
	}
}
