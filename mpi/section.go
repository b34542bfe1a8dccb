package mpi

import "fmt"

// A Section says which elements of a slice a buffer consists of: a column of a matrix, a block of a grid. It is made
// once and used for any number of messages, by any number of goroutines. Its numbers are counted in elements. A
// section that cannot be, or that goes beyond the slice that it is used with, is an error of the call that gets it.
type Section struct {
	offset int
	block  int   // elements of each run
	dims   []dim // runs repeat in each of these, the last one fastest
	list   []run // of Indexed, in place of all that
	count  int   // elements
	end    int   // the slice must have as many
	err    error
}

// A dim is a dimension in which runs repeat.
type dim struct{ count, stride int }

// A run is some elements that lie one behind the other.
type run struct{ at, n int }

// Vector is the section of count blocks of block elements, the first of which begins at offset, each one stride
// elements behind the one before (MPI_Type_vector).
func Vector(offset, count, block, stride int) *Section {
	return newSection(offset, block, []dim{{count, stride}})
}

// Subarray is the block of size elements in each dimension that begins at from, of a grid of shape, whose last
// dimension lies together in memory (MPI_Type_create_subarray in C's order).
func Subarray(shape, size, from []int) *Section {
	n := len(shape)
	if n == 0 || len(size) != n || len(from) != n {
		return &Section{err: fmt.Errorf("mpi: a subarray of %d dimensions has %d sizes and %d places", n, len(size),
			len(from))}
	}
	offset := 0
	stride := 1
	dims := make([]dim, n)
	for i := n - 1; i >= 0; i-- {
		if from[i] < 0 || size[i] < 0 || from[i]+size[i] > shape[i] {
			return &Section{err: fmt.Errorf("mpi: dimension %d of a subarray has %d elements from %d, and the grid has %d",
				i, size[i], from[i], shape[i])}
		}
		dims[i] = dim{size[i], stride}
		offset += from[i] * stride
		stride *= shape[i]
	}
	return newSection(offset, size[n-1], dims[:n-1])
}

// Indexed is the section of blocks of any lengths at any places, in the order given (MPI_Type_indexed).
func Indexed(lengths, places []int) *Section {
	s := &Section{}
	if len(lengths) != len(places) {
		s.err = fmt.Errorf("mpi: a section has %d lengths and %d places", len(lengths), len(places))
		return s
	}
	for i, n := range lengths {
		if n < 0 || places[i] < 0 {
			s.err = fmt.Errorf("mpi: block %d of a section has %d elements at %d", i, n, places[i])
			return s
		}
		s.list = append(s.list, run{places[i], n})
		s.count += n
		s.end = max(s.end, places[i]+n)
	}
	return s
}

// Dealt is what a process has of a grid of shape that is dealt to a grid of processes: in each dimension the first of
// them gets the first block elements, the next one the next, and so on in turns (MPI_Type_create_darray in C's order).
// Processes says how many there are in each dimension, and place which one it is. Blocks that are long enough for one
// turn make parts that lie together, blocks of 1 are dealt one by one.
func Dealt(shape, processes, place, block []int) *Section {
	n := len(shape)
	if n == 0 || len(processes) != n || len(place) != n || len(block) != n {
		return &Section{err: fmt.Errorf("mpi: a grid of %d dimensions is dealt to processes of %d, at a place of %d, in "+
			"blocks of %d", n, len(processes), len(place), len(block))}
	}
	starts := []int{0} // of the runs that the dimensions so far give
	var lengths []int
	for i := range n {
		if shape[i] < 0 || block[i] < 1 || place[i] < 0 || place[i] >= processes[i] {
			return &Section{err: fmt.Errorf("mpi: dimension %d has %d elements, dealt %d at a time, and process %d of %d",
				i, shape[i], block[i], place[i], processes[i])}
		}
		var all []int
		lengths = lengths[:0]
		for _, start := range starts {
			for at := place[i] * block[i]; at < shape[i]; at += processes[i] * block[i] {
				end := min(at+block[i], shape[i])
				if i == n-1 {
					all = append(all, start*shape[i]+at)
					lengths = append(lengths, end-at)
					continue
				}
				for k := at; k < end; k++ {
					all = append(all, start*shape[i]+k)
				}
			}
		}
		starts = all
	}
	return Indexed(lengths, starts)
}

// newSection returns the section of blocks that repeat in some dimensions.
func newSection(offset, block int, dims []dim) *Section {
	s := &Section{offset: offset, block: block, dims: dims, count: block, end: offset + block}
	if offset < 0 || block < 0 {
		s.err = fmt.Errorf("mpi: a section has blocks of %d elements from %d", block, offset)
	}
	for _, d := range dims {
		if d.count < 0 || d.stride < 0 {
			s.err = fmt.Errorf("mpi: a section has %d blocks, %d elements apart", d.count, d.stride)
			return s
		}
		s.count *= d.count
		s.end += max(d.count-1, 0) * d.stride
	}
	if s.count == 0 {
		s.end = 0
	}
	return s
}

// misfit returns why the section cannot be used with a slice of n elements.
func (s *Section) misfit(n int) error {
	if s.err != nil {
		return s.err
	}
	return &LengthError{Op: OpPointToPoint, From: -1, Got: n, Want: s.end}
}

// run returns a run, by its number. There is one.
func (s *Section) run(k int) run {
	if s.list != nil {
		return s.list[k]
	}
	at := s.offset
	for i := len(s.dims) - 1; i >= 0; i-- {
		d := s.dims[i]
		at += k % d.count * d.stride
		k /= d.count
	}
	return run{at, s.block}
}

// ascending returns how many pieces the section has that do not touch each other, or 0 unless they lie in ascending
// order.
func (s *Section) ascending() (pieces int) {
	c := newCursor(s, s.count)
	end := -1
	for left := s.count; left > 0; {
		n := c.ahead()
		at := c.advance(n)
		if at < end {
			return 0
		}
		if at > end {
			pieces++
		}
		end = at + n
		left -= n
	}
	return pieces
}

// each calls f for each run, in order.
func (s *Section) each(f func(off, n int)) {
	if s.count == 0 {
		return
	}
	for _, r := range s.list {
		f(r.at, r.n)
	}
	if s.list == nil {
		s.walk(s.dims, s.offset, f)
	}
}

// walk calls f for each run of some dimensions from an element on.
func (s *Section) walk(dims []dim, at int, f func(off, n int)) {
	if len(dims) == 0 {
		f(at, s.block)
		return
	}
	for range dims[0].count {
		s.walk(dims[1:], at, f)
		at += dims[0].stride
	}
}
