package barrierplan

// What a node is, if it is no member's satellite.
const (
	unused   = -1
	occupied = -2 // by a member of the core
)

// An assignment gives nodes for satellites to the members of the core, within a radius that grows until all have what
// they need. A member that finds no unused node takes one from a member that can have another in its place, so no
// smaller radius would do: these are augmenting paths of a matching.
type assignment struct {
	rows, columns int
	core          []int   // the node of each member of the core
	needs         []int   // nodes that each of them still needs
	owner         []int   // of each node: a member of the core, unused or occupied
	reach         [][]int // nodes within the radius of each, by distance
	radius        int
}

// run assigns all nodes.
func (a *assignment) run() {
	covered := make([]bool, len(a.owner))
	reached := 0
	missing := 0
	for _, n := range a.needs {
		missing += n
	}
	a.reach = make([][]int, len(a.core))
	for needed := missing; missing > 0; a.radius++ {
		for m := range a.core {
			for _, at := range a.ring(a.core[m]) {
				if a.owner[at] == occupied {
					continue
				}
				if !covered[at] {
					covered[at] = true
					reached++
				}
				a.reach[m] = append(a.reach[m], at)
				if a.owner[at] == unused && a.needs[m] > 0 {
					a.owner[at] = m
					a.needs[m]--
					missing--
				}
			}
		}
		if reached >= needed {
			missing -= a.exchange()
		}
	}
	a.radius = max(a.radius-1, 0)
}

// ring returns the nodes that are as far from a node as the radius.
func (a *assignment) ring(from int) (nodes []int) {
	row := from / a.columns
	column := from % a.columns
	for down := -min(a.radius, (a.rows-1)/2); down <= min(a.radius, a.rows/2); down++ {
		first := (row + down + a.rows) % a.rows * a.columns
		across := a.radius - max(down, -down)
		if across <= a.columns/2 {
			nodes = append(nodes, first+(column+across)%a.columns)
		}
		if across > 0 && across <= (a.columns-1)/2 {
			nodes = append(nodes, first+(column-across+a.columns)%a.columns)
		}
	}
	return nodes
}

// exchange gives nodes to members that need some, as long as the radius allows, and returns how many.
func (a *assignment) exchange() (given int) {
	for m := range a.core {
		for a.needs[m] > 0 && a.augment(m) {
			a.needs[m]--
			given++
		}
	}
	return given
}

// augment gives one more node to a member of the core: an unused one, or one whose owner gets another. It reports
// whether there was any.
func (a *assignment) augment(m int) bool {
	type step struct{ taker, node int } // the taker gets the node
	from := make([]step, len(a.core))   // how each member was reached, which would lose the node
	seen := make([]bool, len(a.core))
	seen[m] = true
	for queue := []int{m}; len(queue) > 0; queue = queue[1:] {
		taker := queue[0]
		for _, node := range a.reach[taker] {
			owner := a.owner[node]
			if owner == unused {
				for a.owner[node] = taker; taker != m; {
					last := from[taker]
					a.owner[last.node] = last.taker
					taker = last.taker
				}
				return true
			}
			if !seen[owner] {
				seen[owner] = true
				from[owner] = step{taker, node}
				queue = append(queue, owner)
			}
		}
	}
	return false
}
