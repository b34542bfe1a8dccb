package matching

// ranks is the number of ranks, as in [Kitamura06].
const ranks = 64

// A program is the messages of one of the NAS Parallel Benchmarks: sources, destinations, tags and order, from the
// sources of version 3.4.1. A rank receives and sends, and computes for a while.
type program struct {
	name   string
	script func(me int) script
}

var programs = []program{
	{"CG", cg}, {"MG", mg}, {"LU", lu}, {"SP, BT", sp}, {"IS", is},
}

// cg: 3 outer iterations of 25. Sums along a row of the 8 by 8 ranks in 3 steps, with the step as the tag, and an
// exchange with the transposed rank.
func cg(me int) (s script) {
	const side = 8
	row := me / side
	col := me % side
	var partner [4]int
	for i, d := 1, side; d > 1; i, d = i+1, d/2 {
		partner[i] = row*side + (col+d/2)%d + col/d*d
	}
	transposed := col*side + row
	sum := func() {
		for i := 1; i <= 3; i++ {
			s.exchange(partner[i], uint64(i))
		}
	}
	for range 3 * 25 {
		s.work(60) // the matrix times a vector
		for i := 3; i >= 1; i-- {
			s.exchange(partner[i], uint64(i))
		}
		s.exchange(transposed, 1)
		s.work(3)
		sum()
		s.work(5)
		sum()
	}
	return s
}

// mg: 4 V-cycles on 256 cubed, 4 by 4 by 4 ranks. At each level the halo goes to
// both neighbours of each axis in turn. The level at which only 8 ranks take part
// is left out.
func mg(me int) (s script) {
	const (
		side   = 4
		top    = 8
		bottom = 2
	)
	neighbour := func(axis, dir int) int {
		p := [3]int{me % side, me / side % side, me / side / side}
		p[axis] = (p[axis] + dir + side) % side
		return p[0] + side*(p[1]+side*p[2])
	}
	tag := func(axis, dir int) uint64 { return uint64(2*axis + (dir+1)/2) }
	halo := func(level int) {
		points := 1 << 18 >> (3 * (top - level)) // of a rank
		s.work(float64(points)*0.005 + 1)
		for axis := range 3 {
			s.post(neighbour(axis, 1), tag(axis, -1))
			s.post(neighbour(axis, -1), tag(axis, 1))
			s.send(neighbour(axis, 1), tag(axis, 1))
			s.send(neighbour(axis, -1), tag(axis, -1))
			s.wait()
		}
	}
	for range 4 {
		for level := top - 1; level >= bottom; level-- {
			halo(level) // restricted
		}
		for level := bottom; level <= top; level++ {
			halo(level) // residual
			halo(level) // smoothed
		}
		halo(top) // residual of the next cycle
	}
	return s
}

// lu: 4 steps. A wavefront goes over 8 by 8 ranks for each of 62 planes, from the
// north and the west, and one back; then each exchanges its edges.
func lu(me int) (s script) {
	const (
		side   = 8
		planes = 62
	)
	const (
		north = 1
		south = 2
		west  = 3
		east  = 4
	) // tags: where it comes from
	row := me % side
	col := me / side
	to := func(does bool, peer int, tag uint64) {
		if does {
			s.send(peer, tag)
		}
	}
	from := func(does bool, peer int, tag uint64) {
		if does {
			s.post(peer, tag)
			s.wait()
		}
	}
	n := row > 0
	so := row < side-1
	w := col > 0
	e := col < side-1
	// edge is an exchange in one direction.
	edge := func(gets bool, source int, gives bool, target int, tag uint64) {
		if gets {
			s.post(source, tag)
		}
		to(gives, target, tag)
		s.wait()
	}
	for range 4 {
		for range planes {
			from(n, me-1, north)
			from(w, me-side, west)
			s.work(60)
			to(so, me+1, north)
			to(e, me+side, west)
		}
		for range planes {
			from(so, me+1, south)
			from(e, me+side, east)
			s.work(60)
			to(n, me-1, south)
			to(w, me-side, east)
		}
		s.work(1500)
		edge(n, me-1, so, me+1, north)
		edge(so, me+1, n, me-1, south)
		s.work(1500)
		edge(w, me-side, e, me+side, west)
		edge(e, me+side, w, me-side, east)
	}
	return s
}

// sp: 10 steps. 8 cells along the diagonals of a cube for each rank; faces go to
// six neighbours at once, then each direction is solved from cell to cell, there
// and back, with one tag for all.
func sp(me int) (s script) {
	const side = 8
	const faces = 1 << 32 // the communicator of the faces, in the tag
	i := me % side
	j := me / side
	at := func(i, j int) int { return (i+side)%side + side*((j+side)%side) }
	before := [3]int{at(i-1, j), at(i, j-1), at(i+1, j-1)}
	after := [3]int{at(i+1, j), at(i, j+1), at(i-1, j+1)}
	for range 10 {
		s.work(600)
		for d := range uint64(3) {
			s.post(after[d], faces+2*d)
			s.post(before[d], faces+2*d+1)
		}
		for d := range uint64(3) {
			s.send(after[d], faces+2*d+1)
			s.send(before[d], faces+2*d)
		}
		s.work(300)
		s.wait()
		s.work(300)
		for d := range 3 {
			for cell := range side {
				if cell > 0 {
					s.post(before[d], 0)
				}
				s.work(30)
				s.wait()
				s.work(30)
				if cell < side-1 {
					s.send(after[d], 0)
				}
			}
			for cell := side - 1; cell >= 0; cell-- {
				if cell < side-1 {
					s.post(after[d], 0)
				}
				s.work(5)
				s.wait()
				s.work(15)
				if cell > 0 {
					s.send(before[d], 0)
				}
			}
		}
	}
	return s
}

// is: 10 iterations: a sum over all in 6 steps of doubling, and two exchanges of
// all with all, in which everything is posted and sent at once. How collective
// operations send is the library's choice; this is a usual one.
func is(me int) (s script) {
	const (
		reduce = 1
		counts = 2
		keys   = 3
	)
	all := func(tag uint64) {
		for i := range ranks - 1 {
			s.post((me+i+1)%ranks, tag)
		}
		for i := range ranks - 1 {
			s.send((me-i-1+ranks)%ranks, tag)
		}
		s.wait()
	}
	for range 10 {
		s.work(1000)
		for bit := 1; bit < ranks; bit *= 2 {
			s.exchange(me^bit, reduce)
		}
		s.work(50)
		all(counts)
		s.work(5)
		all(keys)
		s.work(300)
	}
	return s
}
