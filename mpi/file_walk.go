package mpi

import "math"

// A piece is some bytes of a buffer, and where in the file they are.
type piece struct {
	off   int64
	bytes []byte
}

// A walk goes over the bytes of an access in the order in which they lie in the file: in pieces that lie together
// there.
type walk struct {
	f    *File
	size int    // of an element
	next piece  // of length 0 at the end
	rest []byte // behind next
	tile int64  // which repetition of the view the cursor is in
	view cursor
	left int // elements behind the cursor, in the tile
}

// walk returns a walk over the bytes of elements that belong to the places of the view from one on.
func (f *File) walk(b []byte, size, at int) walk {
	if f.view == nil || len(b) == 0 {
		return walk{f: f, size: size, next: piece{f.base + int64(at)*int64(size), b}}
	}
	w := walk{f: f, size: size, rest: b, tile: int64(at / f.view.count), left: f.view.count}
	w.view = newCursor(f.view, f.view.count)
	for skip := at % f.view.count; skip > 0; {
		n := min(w.view.ahead(), skip)
		w.view.advance(n)
		skip -= n
		w.left -= n
	}
	w.load()
	return w
}

// load finds the next piece.
func (w *walk) load() {
	w.next.bytes = nil
	for len(w.rest) > 0 {
		if w.left == 0 {
			w.tile++
			w.view = newCursor(w.f.view, w.f.view.count)
			w.left = w.f.view.count
		}
		n := min(w.view.ahead(), len(w.rest)/w.size)
		off := w.f.base + (w.tile*int64(w.f.extent)+int64(w.view.rest.at))*int64(w.size)
		long := len(w.next.bytes)
		switch {
		case long == 0:
			w.next = piece{off, w.rest[:n*w.size]}
		case off == w.next.off+int64(long):
			w.next.bytes = w.next.bytes[:long+n*w.size]
		default:
			return
		}
		w.rest = w.rest[n*w.size:]
		w.view.advance(n)
		w.left -= n
	}
}

// first returns the place of the next piece, or never.
func (w *walk) first() int64 {
	if len(w.next.bytes) == 0 {
		return never
	}
	return w.next.off
}

// never is a place behind all others.
const never = math.MaxInt64

// take returns the next piece, as far as it is before a place, unless all of it is behind.
func (w *walk) take(to int64) (p piece, ok bool) {
	p = w.next
	if w.first() >= to {
		return p, false
	}
	if n := to - p.off; n < int64(len(p.bytes)) {
		w.next = piece{to, p.bytes[n:]}
		p.bytes = p.bytes[:n]
		return p, true
	}
	w.load()
	return p, true
}

// ends returns the place behind the last piece, or that of the first one if there is none.
func (w walk) ends() int64 {
	end := w.next.off
	for p, ok := w.take(never); ok; p, ok = w.take(never) {
		end = p.off + int64(len(p.bytes))
	}
	return end
}
