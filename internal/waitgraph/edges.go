package waitgraph

import "slices"

// An Edge says that a rank waits for another one.
type Edge struct {
	From, To int
	For      string // what, in words
	Seconds  float64
	Stuck    bool `json:",omitempty"` // for good
}

// Edges returns which rank waits for which. A wait that any rank can end is no edge.
func (g *Graph) Edges() (edges []Edge) {
	for rank, r := range g.Ranks {
		for _, w := range r.Waits {
			n := g.needs(rank, w)
			if n.any {
				continue
			}
			for _, to := range n.ranks {
				if to < len(g.Ranks) {
					edges = append(edges, Edge{rank, to, w.String(), w.Seconds, g.Stuck(rank)})
				}
			}
		}
	}
	return edges
}

// Stuck reports whether a rank waits for good.
func (g *Graph) Stuck(rank int) bool { return slices.Contains(g.stuck, rank) }

// A ObjectState is how the ranks of a job stand to something that coordinates.
type ObjectState struct {
	What, Name string
	Phase      uint64 `json:",omitempty"` // of a barrier: the newest at which a rank has arrived
	Arrived    int    `json:",omitempty"` // ranks that have arrived at it
	Members    int    `json:",omitempty"`
	Missing    []int  `json:",omitempty"` // ranks that have not
	Holders    []int  `json:",omitempty"`
	Queue      []int  `json:",omitempty"` // ranks that have asked for it, as its home knows
}

// ObjectStates returns what the ranks coordinate by, barriers first, in the order of names.
func (g *Graph) ObjectStates() []ObjectState {
	byID := map[uint64]*ObjectState{}
	var ids []uint64
	for rank := range g.Ranks {
		for _, t := range g.Ranks[rank].Objects {
			s := byID[t.ID]
			if s == nil {
				s = &ObjectState{What: t.What, Name: g.name(t)}
				byID[t.ID] = s
				ids = append(ids, t.ID)
			}
			s.Phase = max(s.Phase, t.Arrived)
			if t.Holds {
				s.Holders = append(s.Holders, rank)
			}
			if t.Home {
				s.Queue = t.Queue
			}
		}
	}
	list := make([]ObjectState, 0, len(ids))
	for _, id := range ids {
		s := byID[id]
		if s.Phase > 0 {
			g.arrivals(id, s)
		}
		list = append(list, *s)
	}
	slices.SortStableFunc(list, func(a, b ObjectState) int {
		if barrier := (b.Phase > 0); barrier != (a.Phase > 0) {
			if barrier {
				return 1
			}
			return -1
		}
		if a.Name < b.Name {
			return -1
		}
		return 1
	})
	return list
}

// arrivals counts the members that have arrived at the newest phase of a barrier.
func (g *Graph) arrivals(id uint64, s *ObjectState) {
	for rank := range g.Ranks {
		if g.Ranks[rank].object(id, false) == nil {
			continue
		}
		members := g.members(rank, id)
		s.Members = len(members)
		for _, m := range members {
			if m >= len(g.Ranks) {
				continue
			}
			if t := g.Ranks[m].object(id, false); t != nil && t.Arrived >= s.Phase {
				s.Arrived++
			} else {
				s.Missing = append(s.Missing, m)
			}
		}
		return
	}
}

// Doing says what a rank waits for, in words; "" if it computes.
func (g *Graph) Doing(rank int) string {
	r := &g.Ranks[rank]
	switch {
	case r.Silent:
		return "does not answer: is it stopped?"
	case len(r.Waits) == 0 && r.Done:
		return "has returned"
	case len(r.Waits) == 0:
		return ""
	}
	return g.explain(rank, r.Waits[0])
}
