package amt

import "os"

// Load returns the table of a file for a job of some size, or nil if the name is empty. A nil Table says nothing.
func Load(file string, size int) (*Table, error) {
	if file == "" {
		return nil, nil
	}
	f, err := os.Open(file)
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
	return t, nil
}

// A Share is what a Table says to one rank. A nil Share says nothing.
type Share struct {
	Rings []int        // sizes in bytes; the first is for all senders that are not in the table
	Table map[int]int  // sender to ring
	owned map[int]bool // the ranks at which this rank has a ring of its own
}

// Share returns what concerns a rank.
func (t *Table) Share(rank int) *Share {
	if t == nil {
		return nil
	}
	s := &Share{owned: t.OwnAt(rank)}
	if r, ok := t.Of(rank); ok {
		s.Rings = r.Rings
		s.Table = r.Table
	}
	return s
}

// Own returns a function that tells the shared memory transport whether this process has a ring of its own at a peer,
// from the first packet on. Nil means that the transport decides by itself.
func (s *Share) Own() func(peer int) bool {
	if s == nil {
		return nil
	}
	return func(peer int) bool { return s.owned[peer] }
}
