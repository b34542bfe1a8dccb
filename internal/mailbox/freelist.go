package mailbox

import "slices"

// A FreeList is the free parts of a mailbox's memory for rings, in the order of their
// addresses. The owner of the mailbox keeps it; no other process sees it.
type FreeList []span

type span struct{ base, size int }

// NewFreeList returns the free list of size bytes that are all free.
func NewFreeList(size int) FreeList { return FreeList{{0, size}} }

// Take takes size bytes from the first part that is large enough, and returns where they
// begin.
func (f *FreeList) Take(size int) (base int, ok bool) {
	for i, s := range *f {
		if s.size >= size {
			(*f)[i] = span{s.base + size, s.size - size}
			return s.base, true
		}
	}
	return 0, false
}

// TakeAt takes bytes that have just been given back.
func (f *FreeList) TakeAt(base, size int) {
	for i, s := range *f {
		if s.base <= base && base+size <= s.base+s.size {
			before := span{s.base, base - s.base}
			after := span{base + size, s.base + s.size - base - size}
			*f = slices.Replace(*f, i, i+1, before, after)
			return
		}
	}
}

// Give gives bytes back, and joins parts that touch.
func (f *FreeList) Give(base, size int) {
	*f = append(*f, span{base, size})
	slices.SortFunc(*f, func(x, y span) int { return x.base - y.base })
	joined := (*f)[:0]
	for _, s := range *f {
		if n := len(joined); n > 0 && joined[n-1].base+joined[n-1].size == s.base {
			joined[n-1].size += s.size
		} else if s.size > 0 {
			joined = append(joined, s)
		}
	}
	*f = joined
}

// Free returns how many bytes are free.
func (f FreeList) Free() (n int) {
	for _, s := range f {
		n += s.size
	}
	return n
}
