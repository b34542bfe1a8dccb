package barrierplan

import (
	"fmt"
	"maps"

	"weft/internal/engine/coord"
)

// printed returns the plan of a node by the steps of [Hayakawa98] §3.2.1 as they are printed, on a torus. In step 2 an
// even column notifies the node on its right and an odd one the node on its left. In step 3 it is the other way round,
// and a node that is notified passes it on in the same direction. Steps 4 and 5 do the same along the columns. A node
// goes on when it has heard of all of them.
//
// That is right where rows and columns have 2, 4 or 6 nodes. On a ring of odd length the last node is even, and its
// right neighbour, the first, is even too: the last node waits for a notification that nobody sends. On longer rings a
// node goes on before the nodes that are farther away have arrived.
func printed(rows, columns, me int) coord.Plan {
	row := me / columns
	column := me % columns
	gates := make([]coord.Gate, 1+2*4)
	gates[0].Inputs = 1
	steps(gates, 0, me, columns, column, func(x int) int { return row*columns + x })
	steps(gates, 4, me, rows, row, func(x int) int { return x*columns + column })
	gates[8].Done = true
	return coord.Plan{Gates: gates}
}

// steps adds two steps along a ring, at place x, behind a gate. The next gates are: the pair has notified; the right,
// and the left, has notified; all of it.
func steps(gates []coord.Gate, before, me, length, x int, at func(x int) int) {
	right := at((x + 1) % length)
	left := at((x + length - 1) % length)
	towards := right
	back := left
	if x%2 == 1 {
		towards = left
		back = right
	}
	pair := before + 1
	all := before + 4
	send := func(from, to, gate int) {
		gates[from].Sends = append(gates[from].Sends, coord.Send{To: to, Gate: gate})
	}
	gates[pair].Inputs = 2
	send(before, me, pair)
	send(before, towards, pair)
	send(pair, me, all)
	// The receiver hears of it from its right if it travels to the left.
	heard := before + 2
	if x%2 == 1 {
		heard = before + 3
	}
	send(pair, back, heard)
	gates[all].Inputs = 3
	for i, on := range []int{left, right} {
		gate := before + 2 + i
		gates[gate].Inputs = 1
		send(gate, me, all)
		if first := x%2 != i; first { // an even node notifies the one on its left, an odd one that on its right
			send(gate, on, gate)
		}
	}
}

// judge counts a member that never goes on, or that goes on too early.
func (m *simulation) judge(p *member) {
	last := len(p.gates) - 1
	switch {
	case !m.Printed:
	case p.left[last] > 0:
		m.result.Stuck++
		if p.left[1] > 0 || p.left[4] <= 0 && p.left[5] > 0 {
			m.result.Unpaired++
		}
	case p.late[last].heard.count() < m.N:
		m.result.Early++
	}
}

// A set has the members of whose arrival a member has heard, directly or not. It is kept for Case.Printed alone.
type set map[int]bool

func (s set) count() int { return len(s) }

// with returns the members of both.
func (s set) with(other set) set {
	if s == nil {
		return maps.Clone(other)
	}
	maps.Copy(s, other)
	return s
}

// plan returns the plan of a member.
func (c Case) plan(me int) (coord.Plan, error) {
	if !c.Printed {
		return coord.NewPlan(c.Algorithm, c.N, c.Arity, me)
	}
	var rows, columns int
	if n, _ := fmt.Sscanf(c.Topology, "torus:%dx%d", &rows, &columns); n < 2 || rows < 2 || columns < 2 {
		return coord.Plan{}, fmt.Errorf("the steps as printed are for a torus of rows and columns, not %s", c.Topology)
	}
	return printed(rows, columns, me), nil
}
