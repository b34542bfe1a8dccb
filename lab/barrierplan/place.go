package barrierplan

import (
	"weft/internal/engine/coord"
	"weft/lab/hwmodel"
)

// Place puts n members of the modified shuffle exchange on the nodes of a torus. Members that exchange with each other
// are spread evenly, which is neighbours if there are no others, and each satellite lies on the nearest free node
// beside its own. The torus is as small and as square as that allows; if n has no such factors, some of its nodes are
// idle.
func Place(n int) (rows, columns int, node []int) {
	r, c := coord.Torus(n)
	for height := r; height <= n; height++ {
		width := max((n+height-1)/height, c)
		less := height*width - rows*columns
		if rows == 0 || less < 0 || less == 0 && max(height, width) < max(rows, columns) {
			rows = height
			columns = width
		}
	}
	taken := make([]bool, rows*columns)
	for i := range r * c {
		at := i/c*rows/r*columns + i%c*columns/c
		node = append(node, at)
		taken[at] = true
	}
	for s := r * c; s < n; s++ {
		best := -1
		near := 0
		for at, used := range taken {
			if used {
				continue
			}
			if d := hwmodel.TorusHops(rows, columns, node[s%(r*c)], at); best < 0 || d < near {
				best = at
				near = d
			}
		}
		node = append(node, best)
		taken[best] = true
	}
	return rows, columns, node
}

// Chosen returns the algorithm that [Hayakawa98] (§3.2.1) chooses for n nodes.
func Chosen(n int) coord.Algorithm {
	switch {
	case n <= 16:
		return coord.Shuffle
	case n <= 36:
		return coord.ModifiedShuffle
	default:
		return coord.Central
	}
}
