//go:build mutants

package weak

import (
	"bytes"
	"encoding/binary"
	"slices"
	"unsafe"
)

// A Memory is what several processors share.
type Memory struct {
	point   func()
	pick    func(n int) int
	visible []byte // to all
	log     []int  // the words that have become visible, in order
	views   []*view
}

// A view is the memory as one processor sees it.
type view struct {
	m       *Memory
	seen    []byte    // by this processor
	base    []byte    // the same without its own writes that are not visible yet
	knows   int       // how much of the log it has seen all of
	pending []publish // in their order
}

// A publish is a store that becomes visible after all that its processor wrote before.
type publish struct {
	off, size int
	value     uint64
	before    []int // words
}

const wordBytes = 4

// here is the memory of the test that runs, or nil.
var here *Memory

// New returns a memory of size bytes for so many processors. It calls point before each atomic operation, and pick for
// each choice of one of n. There is one memory at a time, until Close.
func New(size, views int, pick func(n int) int, point func()) *Memory {
	m := &Memory{point: point, pick: pick, visible: make([]byte, size)}
	for range views {
		m.views = append(m.views, &view{m: m, seen: aligned(size), base: make([]byte, size)})
	}
	here = m
	return m
}

// aligned returns zeroed bytes that begin a cache line.
func aligned(size int) []byte {
	b := make([]byte, size+64)
	at := -int(uintptr(unsafe.Pointer(unsafe.SliceData(b)))) & 63
	return b[at:][:size:size]
}

// Close ends the memory.
func (m *Memory) Close() { here = nil }

// View returns the memory as processor i sees it.
func (m *Memory) View(i int) []byte { return m.views[i].seen }

// Begin makes all that has been written known to all processors, before they begin.
func (m *Memory) Begin() {
	for _, v := range m.views {
		v.drain()
	}
	for _, v := range m.views {
		v.learn()
	}
}

// find returns the view that an address lies in, and where.
func find(p unsafe.Pointer) (v *view, off int) {
	if here == nil {
		return nil, 0
	}
	for _, v := range here.views {
		off := uintptr(p) - uintptr(unsafe.Pointer(unsafe.SliceData(v.seen)))
		if off < uintptr(len(v.seen)) {
			return v, int(off)
		}
	}
	return nil, 0
}

// step lets others run, and some of what processors have written become visible, and known.
func (m *Memory) step() {
	m.point()
	for _, v := range m.views {
		switch m.pick(4) {
		case 0: // some words, in any order
			for _, w := range v.dirty() {
				if m.pick(2) == 0 {
					v.show(w)
				}
			}
		case 1:
			v.showPublished(m.pick(len(v.pending) + 1))
		case 2: // some news
			for _, w := range m.log[v.knows:] {
				if m.pick(2) == 0 {
					v.refresh(w)
				}
			}
		}
	}
}

// dirty returns the words that the processor has written and that are not visible yet. It leaves out words that publish
// has written.
func (v *view) dirty() (words []int) {
	const chunk = 1 << 10
	for at := 0; at < len(v.seen); at += chunk {
		end := min(at+chunk, len(v.seen))
		if bytes.Equal(v.seen[at:end], v.base[at:end]) {
			continue
		}
		for w := at; w < end; w += wordBytes {
			if !bytes.Equal(v.seen[w:w+wordBytes], v.base[w:w+wordBytes]) && !v.published(w) {
				words = append(words, w)
			}
		}
	}
	return words
}

// published reports whether a publish that is not visible yet has written a word.
func (v *view) published(w int) bool {
	return slices.ContainsFunc(v.pending, func(p publish) bool { return p.off <= w && w < p.off+p.size })
}

// show makes what the processor has written to a word visible.
func (v *view) show(w int) {
	for b := w; b < w+wordBytes; b++ {
		if v.seen[b] != v.base[b] {
			v.m.visible[b] = v.seen[b]
			v.base[b] = v.seen[b]
		}
	}
	v.m.log = append(v.m.log, w)
}

// showPublished makes the oldest n publishes visible.
func (v *view) showPublished(n int) {
	for range n {
		p := v.pending[0]
		v.pending = v.pending[1:]
		for _, w := range p.before {
			if !v.published(w) {
				v.show(w)
			}
		}
		v.set(p.off, p.size, p.value)
		for b := p.off; b < p.off+p.size; b++ { // a later publish of the same word may have been seen by its own processor
			v.base[b] = v.m.visible[b]
		}
	}
}

// drain makes all that the processor has written visible.
func (v *view) drain() {
	v.showPublished(len(v.pending))
	for _, w := range v.dirty() {
		v.show(w)
	}
}

// set makes a value visible.
func (v *view) set(off, size int, value uint64) {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], value)
	copy(v.m.visible[off:off+size], b[:])
	for w := off; w < off+size; w += wordBytes {
		v.m.log = append(v.m.log, w)
	}
}

// refresh lets the processor see what is visible in a word, but for what it has written itself.
func (v *view) refresh(w int) {
	for b := w; b < w+wordBytes; b++ {
		if v.seen[b] == v.base[b] {
			v.seen[b] = v.m.visible[b]
		}
		v.base[b] = v.m.visible[b]
	}
}

// learn lets the processor see all that is visible.
func (v *view) learn() {
	for _, w := range v.m.log[v.knows:] {
		v.refresh(w)
	}
	v.knows = len(v.m.log)
}

func (v *view) value(off, size int) uint64 {
	var b [8]byte
	copy(b[:], v.seen[off:off+size])
	return binary.LittleEndian.Uint64(b[:])
}

func (v *view) put(off, size int, value uint64) {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], value)
	copy(v.seen[off:off+size], b[:])
}

// load is an atomic load.
func (v *view) load(off, size int) uint64 {
	v.m.step()
	v.learn()
	return v.value(off, size)
}

// store is an atomic store.
func (v *view) store(off, size int, value uint64) {
	v.m.step()
	v.drain()
	v.write(off, size, value)
}

// change reads a value, and writes what f makes of it if f says so.
func (v *view) change(off, size int, f func(old uint64) (value uint64, writes bool)) (old uint64) {
	v.m.step()
	v.drain()
	v.learn()
	old = v.value(off, size)
	if value, writes := f(old); writes {
		v.write(off, size, value)
	}
	return old
}

// write makes a value visible at once.
func (v *view) write(off, size int, value uint64) {
	v.set(off, size, value)
	v.put(off, size, value)
	copy(v.base[off:off+size], v.seen[off:off+size])
}

// publish is a store that becomes visible later, after all that was written before.
func (v *view) publish(off, size int, value uint64) {
	v.m.step()
	v.pending = append(v.pending, publish{off, size, value, v.dirty()})
	v.put(off, size, value)
}
