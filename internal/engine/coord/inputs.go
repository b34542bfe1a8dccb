package coord

import "slices"

// inputs knows which ranks give inputs to the gates of a barrier, and which have done so:
// each counts once a phase. A rank that says so twice, or to a gate that is none of its
// own, cannot open a gate in the place of another.
type inputs struct {
	from  [][]int // by gate: the ranks that send to it, ascending
	at    []int   // by gate: where its words begin
	words int     // of a phase
	heard []uint64
}

// newInputs returns the inputs of a member for so many phases at a time.
func (b *barrier) newInputs(phases int) (in inputs) {
	in.from = make([][]int, len(b.plan.Gates))
	b.contacts(func(i int) {
		plan, _ := NewPlan(b.o.Algorithm, b.size, b.o.Arity, i) // as good as this member's
		for _, g := range plan.Gates {
			for _, s := range g.Sends {
				if s.To == b.me {
					in.from[s.Gate] = append(in.from[s.Gate], b.member(i))
				}
			}
		}
	})
	for _, ranks := range in.from {
		slices.Sort(ranks)
		in.at = append(in.at, in.words)
		in.words += (len(ranks) + 63) / 64
	}
	in.heard = make([]uint64, phases*in.words)
	return in
}

// take notes an input, and reports whether it may come from that rank, and has not.
func (in *inputs) take(lap, gate, rank int) bool {
	i, ok := slices.BinarySearch(in.from[gate], rank)
	if !ok {
		return false
	}
	word := &in.heard[lap*in.words+in.at[gate]+i/64]
	bit := uint64(1) << (i % 64)
	was := *word
	*word |= bit
	return was&bit == 0
}

// reset forgets which ranks have given inputs to a gate, which has opened.
func (in *inputs) reset(lap, gate int) {
	begin := lap*in.words + in.at[gate]
	clear(in.heard[begin:][:(len(in.from[gate])+63)/64])
}
