package amt

import "os"

// A Plan says where the receive rings of a job come from: a Table, or a policy that assigns them while the job runs. A
// nil Plan says nothing.
type Plan struct {
	table *Table // nil: rings are assigned while the job runs
}

// Load returns the plan that a text names for a job of some size: the file of a table, or "auto". It returns nil if the
// text is empty.
func Load(text string, size int) (*Plan, error) {
	switch text {
	case "":
		return nil, nil
	case "auto":
		return &Plan{}, nil
	}
	f, err := os.Open(text)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	t, err := ReadTable(f)
	if err == nil {
		err = t.Fits(size)
	}
	if err != nil {
		return nil, err
	}
	return &Plan{table: t}, nil
}

// A Share is what a Plan says to one rank. A nil Share says nothing.
type Share struct {
	Auto  bool         // rings are assigned while the job runs; the other fields are empty
	Rings []int        // sizes in bytes; the first is for all senders that are not in the table
	Table map[int]int  // sender to ring
	owned map[int]bool // the ranks at which this rank has a ring of its own
}

// Of returns what concerns a rank.
func (p *Plan) Of(rank int) *Share {
	switch {
	case p == nil:
		return nil
	case p.table == nil:
		return &Share{Auto: true}
	}
	s := &Share{owned: p.table.OwnAt(rank)}
	if r, ok := p.table.Of(rank); ok {
		s.Rings = r.Rings
		s.Table = r.Table
	}
	return s
}

// Own returns a function that tells the shared memory transport whether this process has a ring of its own at a peer,
// from the first packet on. Nil means that the transport decides by itself.
func (s *Share) Own() func(peer int) bool {
	if s == nil || s.Auto {
		return nil
	}
	return func(peer int) bool { return s.owned[peer] }
}
