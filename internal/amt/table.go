package amt

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
)

// A Table says which receive rings the ranks of a job have, and which sender uses
// which ring. Its file is JSON:
//
//	{"amt": 1, "ranks": 64, "program": "cg", "receivers": [
//	  {"rank": 0, "rings": [4096, 65536, 65536], "table": {"1": 1, "8": 2}}
//	]}
type Table struct {
	Version   int     `json:"amt"`
	Ranks     int     `json:"ranks"`
	Program   string  `json:"program,omitempty"`
	Receivers []Rings `json:"receivers"` // by rank; a rank that is left out has one ring, of the default's size
}

// Rings are those of one receiver.
type Rings struct {
	Rank  int         `json:"rank"`
	Rings []int       `json:"rings"` // sizes in bytes; ring 0 is for all senders that are not in Table
	Table map[int]int `json:"table"` // sender to ring

	// Longest is the longest message that is longer than its ring, or 0.
	Longest uint64 `json:"longest,omitempty"`
}

// A SizeError reports a table for a job of another size.
type SizeError struct{ Ranks, Job int }

func (e *SizeError) Error() string {
	return fmt.Sprintf("amt: the table is for %d ranks, the job has %d", e.Ranks, e.Job)
}

// Fits returns an error unless the table is for a job of so many ranks.
func (t *Table) Fits(ranks int) error {
	if t.Ranks != ranks {
		return &SizeError{t.Ranks, ranks}
	}
	return nil
}

// TableVersion is the version of the file that is written and read.
const TableVersion = 1

// maxTable bounds the file of a table, in bytes.
const maxTable = 1 << 28

// ErrTable is what every TableError is.
var ErrTable = errors.New("no AMT")

// A TableError reports a file that holds no table, or one that makes no sense.
type TableError struct{ Why string }

func (e *TableError) Error() string { return "amt: " + e.Why }

// Is reports whether target is ErrTable.
func (e *TableError) Is(target error) bool { return target == ErrTable }

// ReadTable reads a table's file.
func ReadTable(r io.Reader) (*Table, error) {
	in := &io.LimitedReader{R: r, N: maxTable}
	var t Table
	if err := json.NewDecoder(in).Decode(&t); err != nil {
		return nil, &TableError{"this is no AMT file, which weftlab amt advise writes: " + err.Error()}
	}
	if t.Version != TableVersion {
		return nil, &TableError{fmt.Sprintf(`this is no AMT file, which begins with "amt": %d`, TableVersion)}
	}
	if t.Ranks < 1 || t.Ranks > MaxRanks {
		return nil, &TableError{fmt.Sprintf("it is for %d ranks: must be from 1 to %d", t.Ranks, MaxRanks)}
	}
	last := -1
	for i := range t.Receivers {
		r := &t.Receivers[i]
		if r.Rank <= last || r.Rank >= t.Ranks {
			return nil, &TableError{fmt.Sprintf("receiver %d after %d: they must ascend, and be below %d", r.Rank, last,
				t.Ranks)}
		}
		if err := r.check(t.Ranks); err != nil {
			return nil, err
		}
		last = r.Rank
	}
	return &t, nil
}

// check returns an error unless a mailbox of a job of so many ranks can have these rings.
func (r *Rings) check(ranks int) error {
	if len(r.Rings) == 0 {
		return &TableError{fmt.Sprintf("receiver %d has no ring", r.Rank)}
	}
	sum := 0
	for _, size := range r.Rings {
		if err := CheckRing(size); err != nil {
			return &TableError{fmt.Sprintf("receiver %d: %v", r.Rank, err)}
		}
		if sum += size; sum > MaxMemory {
			return &TableError{fmt.Sprintf("receiver %d: its rings have more than %d bytes", r.Rank, MaxMemory)}
		}
	}
	for from, ring := range r.Table {
		if from < 0 || from >= ranks {
			return &TableError{fmt.Sprintf("receiver %d: sender %d of %d", r.Rank, from, ranks)}
		}
		if ring < 0 || ring >= len(r.Rings) {
			return &TableError{fmt.Sprintf("receiver %d: sender %d has ring %d of %d", r.Rank, from, ring, len(r.Rings))}
		}
	}
	return nil
}

// MaxMemory bounds the rings of one receiver, in bytes.
const MaxMemory = 1 << 36

// Of returns the rings of a rank, if the table has any.
func (t *Table) Of(rank int) (Rings, bool) {
	i, ok := slices.BinarySearchFunc(t.Receivers, rank, func(r Rings, rank int) int { return r.Rank - rank })
	if !ok {
		return Rings{}, false
	}
	return t.Receivers[i], true
}

// OwnAt returns the receivers at which a sender has a ring to itself.
func (t *Table) OwnAt(sender int) map[int]bool {
	own := map[int]bool{}
	for i := range t.Receivers {
		r := &t.Receivers[i]
		ring, ok := r.Table[sender]
		if !ok || ring == 0 {
			continue
		}
		own[r.Rank] = true
		for from, other := range r.Table {
			if other == ring && from != sender {
				delete(own, r.Rank)
				break
			}
		}
	}
	return own
}

// Limits of a ring's size in bytes, a power of two.
const (
	MinRing = 4 << 10
	MaxRing = 1 << 30
)

// A RingError reports a size that no ring can have.
type RingError struct{ Size int }

func (e *RingError) Error() string {
	return fmt.Sprintf("amt: a ring of %d bytes: must be a power of two from %d to %d", e.Size, MinRing, MaxRing)
}

// CheckRing returns an error unless a ring may have so many bytes: a power of two within bounds.
func CheckRing(size int) error {
	if size < MinRing || size > MaxRing || size&(size-1) != 0 {
		return &RingError{size}
	}
	return nil
}
