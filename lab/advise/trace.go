package advise

import (
	"cmp"
	"fmt"
	"slices"

	"weft/internal/amt"
)

// A Trace is what the ranks of a job have sent.
type Trace struct {
	Size    int
	Job     string
	Program string
	Parts   []amt.Part // by rank; those of ranks that died may be missing
}

// A PartError reports parts that are not of one trace.
type PartError struct {
	Rank int
	Why  string
}

func (e *PartError) Error() string { return fmt.Sprintf("amt: the part of rank %d: %s", e.Rank, e.Why) }

// NewTrace puts parts together.
func NewTrace(parts []amt.Part) (*Trace, error) {
	if len(parts) == 0 {
		return nil, ErrEmpty
	}
	first := parts[0]
	t := &Trace{Size: first.Size, Job: first.Job, Program: first.Program, Parts: slices.Clone(parts)}
	slices.SortStableFunc(t.Parts, func(a, b amt.Part) int { return cmp.Compare(a.Rank, b.Rank) })
	for i, p := range t.Parts {
		switch {
		case p.Size != t.Size:
			return nil, &PartError{p.Rank,
				fmt.Sprintf("of a job of %d ranks, beside one of %d: which of the files are of one run?", p.Size, t.Size)}
		case p.Job != t.Job:
			return nil, &PartError{p.Rank, fmt.Sprintf("of job %s, beside one of job %s: which of the files are of one run?",
				p.Job, t.Job)}
		case i > 0 && p.Rank == t.Parts[i-1].Rank:
			return nil, &PartError{p.Rank, "there are two"}
		}
	}
	return t, nil
}

// Missing returns how many ranks have left no part: they died.
func (t *Trace) Missing() int { return t.Size - len(t.Parts) }

// A Sender is what a rank has sent to one receiver.
type Sender struct {
	Rank       int
	Partner    amt.Count // that a receive ring is for
	Collective amt.Count // for collective operations of all ranks
}

// A Receiver is what a rank was sent, by rank of the senders.
type Receiver struct {
	Rank    int
	Senders []Sender
}

// Partners returns how many others have sent to the rank, but for collective
// operations of all ranks.
func (r *Receiver) Partners() (n int) {
	for i := range r.Senders {
		if r.Senders[i].Partner.Messages > 0 {
			n++
		}
	}
	return n
}

// Receivers turns the trace round: what each rank was sent by others. Ranks that
// nobody sent anything are left out.
func (t *Trace) Receivers() []Receiver {
	to := map[int]*Receiver{}
	for _, p := range t.Parts { // by rank, so senders come in order
		for _, row := range p.Rows {
			if row.To == p.Rank || row.Messages == 0 || !brings(row.Kind) && row.Kind != amt.Collective {
				continue
			}
			r := to[row.To]
			if r == nil {
				r = &Receiver{Rank: row.To}
				to[row.To] = r
			}
			if n := len(r.Senders); n == 0 || r.Senders[n-1].Rank != p.Rank {
				r.Senders = append(r.Senders, Sender{Rank: p.Rank})
			}
			s := &r.Senders[len(r.Senders)-1]
			if row.Kind == amt.Collective {
				add(&s.Collective, row.Count)
			} else {
				add(&s.Partner, row.Count)
			}
		}
	}
	all := make([]Receiver, 0, len(to))
	for _, r := range to {
		all = append(all, *r)
	}
	slices.SortFunc(all, func(a, b Receiver) int { return cmp.Compare(a.Rank, b.Rank) })
	return all
}

// brings reports whether the kind brings data to a partner that has not asked
// for it, which is what receive rings are for.
func brings(k amt.Kind) bool { return k <= amt.Put }

// add adds a count to another.
func add(c *amt.Count, o amt.Count) {
	c.Messages = saturate(c.Messages, o.Messages)
	c.Bytes = saturate(c.Bytes, o.Bytes)
	c.Largest = max(c.Largest, o.Largest)
}

// saturate returns a + b, or the greatest number if the sum is greater.
func saturate(a, b uint64) uint64 {
	if a+b < a {
		return 1<<64 - 1
	}
	return a + b
}
