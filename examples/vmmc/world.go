package main

// A world is what is played.
type world struct{ rows, cols, generations int }

// start returns a cell at first.
func (w world) start(row, col int) byte {
	x := uint32(row*w.cols+col)*2654435761 + 12345
	return byte(x >> 13 & 1)
}

// alone plays the whole world.
func (w world) alone() []byte {
	b := newBand(w, 0, w.rows)
	for range w.generations {
		copy(b.row(-1), b.row(w.rows-1))
		copy(b.row(w.rows), b.row(0))
		b.live(0, w.rows)
		b.turn()
	}
	return b.cells()
}

// A band is some rows of the world, with one more above and below.
type band struct {
	n, cols   int
	now, next []byte
}

func newBand(w world, first, n int) *band {
	b := &band{n: n, cols: w.cols, now: make([]byte, (n+2)*w.cols), next: make([]byte, (n+2)*w.cols)}
	for r := range n {
		for c := range w.cols {
			b.row(r)[c] = w.start(first+r, c)
		}
	}
	return b
}

// row returns a row; -1 and n are the ones above and below.
func (b *band) row(r int) []byte { return b.now[(r+1)*b.cols : (r+2)*b.cols] }

// cells returns the rows of the band.
func (b *band) cells() []byte { return b.now[b.cols : (b.n+1)*b.cols] }

// live works out rows of the next generation.
func (b *band) live(from, to int) {
	for r := from; r < to; r++ {
		up := b.row(r - 1)
		here := b.row(r)
		down := b.row(r + 1)
		next := b.next[(r+1)*b.cols : (r+2)*b.cols]
		for c := range here {
			left := (c + b.cols - 1) % b.cols
			right := (c + 1) % b.cols
			n := up[left] + up[c] + up[right] + here[left] + here[right] + down[left] + down[c] + down[right]
			next[c] = 0
			if n == 3 || n == 2 && here[c] == 1 {
				next[c] = 1
			}
		}
	}
}

// turn makes the next generation the present one.
func (b *band) turn() { b.now, b.next = b.next, b.now }
