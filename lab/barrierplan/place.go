package barrierplan

import "weft/internal/engine/coord"

// A Placing says where the members of the modified shuffle exchange are on a torus of rows and columns.
type Placing struct {
	Rows, Columns int
	Node          []int // of each member
	Radius        int   // the most hops from a satellite to its member
}

// Place puts n members of the modified shuffle exchange on the nodes of a torus, whose sides have the smallest sum that
// n allows. The two members of a pair are neighbours, on rows and on columns. The pairs are spread evenly, so that each
// has about as many nodes around it, and the satellites are as near to their members as any choice of nodes allows; of
// the tori with that sum the one is taken where they are nearest.
func Place(n int) (best Placing) {
	r, c := coord.Torus(n)
	across := func(rows int) int { return max((n+rows-1)/rows, c) }
	least := n + r
	for rows := r; rows <= n; rows++ {
		least = min(least, rows+across(rows))
	}
	for rows := r; rows <= n; rows++ {
		if rows+across(rows) > least {
			continue
		}
		if p := place(n, r, c, rows, across(rows)); best.Node == nil || p.Radius < best.Radius {
			best = p
		}
	}
	return best
}

// place puts n members, of which r × c are the core, on a torus of rows and columns.
func place(n, r, c, rows, columns int) Placing {
	core := r * c
	p := Placing{Rows: rows, Columns: columns, Node: make([]int, n)}
	a := assignment{
		rows: rows, columns: columns, core: p.Node[:core], needs: make([]int, core), owner: make([]int, rows*columns),
	}
	for at := range a.owner {
		a.owner[at] = unused
	}
	down := spread(r, rows)
	across := spread(c, columns)
	for m := range core {
		p.Node[m] = down[m/c]*columns + across[m%c]
		a.owner[p.Node[m]] = occupied
		a.needs[m] = (n - 1 - m) / core
	}
	a.run()
	p.Radius = a.radius
	last := make([]int, core) // the member, and then its satellites, that have got a node
	for m := range last {
		last[m] = m
	}
	for at, m := range a.owner {
		if m >= 0 {
			last[m] += core
			p.Node[last[m]] = at
		}
	}
	return p
}

// spread returns the places of a ring's members on a ring of nodes: pairs side by side, each in the middle of its
// share.
func spread(members, nodes int) (at []int) {
	for m := range members {
		first := m &^ 1
		share := min(members-first, 2)
		at = append(at, (2*first*nodes+share*(nodes-members))/(2*members)+m-first)
	}
	return at
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
