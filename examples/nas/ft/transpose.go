package main

// tile is how many elements beside each other are moved before the next row: those
// of four cache lines. The sides of the field are multiples of it.
const tile = 16

// A matrix is rows of elements within a slice, each so many after the one before.
type matrix struct {
	at     []complex128
	stride int
}

// transpose makes the columns of a matrix of so many rows and columns the rows of
// dst. It goes by tiles, so that no cache line is fetched for one element only:
// rows of the field lie powers of two apart, and drive each other out of the cache.
func transpose(dst, src matrix, rows, cols int) {
	for c := 0; c < cols; c += tile {
		width := min(tile, cols-c)
		for r := range rows {
			at := c*dst.stride + r
			for _, v := range src.at[r*src.stride+c:][:width] {
				dst.at[at] = v
				at += dst.stride
			}
		}
	}
}
