package advise

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"

	"cmp"
	"fmt"
	"math/bits"
	"slices"
	"weft/internal/amt"
)

// DefaultRing is the size of a ring in bytes where nothing says another.
const DefaultRing = 64 << 10

// Options shape the advice.
type Options struct {
	// Ring is the size of every ring. 0 lets each follow from what it has to hold;
	// then it stands for DefaultRing in what Budget is by default.
	Ring int

	// Budget bounds the rings of each rank, in bytes. 0 means one of Ring bytes for
	// each partner, and one for all others; or more, if messages are longer.
	Budget int
}

// A BudgetError reports a budget that has no room for even one ring.
type BudgetError struct{ Budget, Ring int }

func (e *BudgetError) Error() string {
	return fmt.Sprintf("amt: a budget of %d bytes for each rank: one ring takes %d", e.Budget, e.Ring)
}

// check returns an error unless the budget has room for one ring at least.
func (o *Options) check() error {
	if o.Ring != 0 {
		if err := amt.CheckRing(o.Ring); err != nil {
			return err
		}
	}
	if least := max(o.Ring, amt.MinRing); o.Budget != 0 && o.Budget < least {
		return &BudgetError{o.Budget, least}
	}
	return nil
}

// Advise says which rings each rank should have. Partners come by how often they
// send: as many as the budget has room for get a ring of their own, the others and
// all collective operations share one. A ring holds two of the largest message that
// it is for, as long as that is at most DefaultRing, and one in any case if the budget
// has room for it. What is left of the budget makes rings longer that have much to
// carry. What counts is the whole run.
func Advise(t *Trace, o Options) (*amt.Table, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	a := &amt.Table{Ranks: t.Size, Program: t.Program}
	for _, r := range t.Receivers() {
		a.Receivers = append(a.Receivers, advise(&r, o))
	}
	return a, nil
}

// load is what one ring is for.
type load struct {
	size int
	amt.Count
}

// advise returns the rings of one receiver. Ring 0 is for all senders without a ring of their own, and for
// collective operations; rings 1, 2, … are for the partners in order of frequency, as many as the budget has room
// for. Longest is set if a message does not fit its ring.
func advise(r *Receiver, o Options) amt.Rings {
	ring := o.Ring
	if ring == 0 {
		ring = DefaultRing
	}
	budget := o.Budget
	partners, rest := byFrequency(r)
	if budget == 0 {
		largest := rest.Largest
		for _, s := range partners {
			largest = max(largest, s.Partner.Largest)
		}
		if o.Ring == 0 {
			ring = max(ring, upTo(largest))
		}
		budget = (len(partners) + 1) * ring
	}
	budget = min(budget, amt.MaxMemory)
	own := room(partners, rest, o, budget)
	for _, s := range partners[own:] {
		add(&rest, s.Partner)
	}
	loads := []load{{min(fit(rest.Largest, o), 1<<(bits.Len(uint(budget))-1)), rest}}
	a := amt.Rings{Rank: r.Rank, Table: map[int]int{}}
	for i, s := range partners[:own] {
		a.Table[s.Rank] = i + 1
		loads = append(loads, load{fit(s.Partner.Largest, o), s.Partner})
	}
	if o.Ring == 0 {
		grow(loads, budget)
	}
	for _, l := range loads {
		a.Rings = append(a.Rings, l.size)
		if l.Largest > uint64(l.size) {
			a.Longest = max(a.Longest, l.Largest)
		}
	}
	return a
}

// byFrequency returns the partners, the most frequent senders first, and what
// shares a ring in any case.
func byFrequency(r *Receiver) (partners []Sender, rest amt.Count) {
	for _, s := range r.Senders {
		add(&rest, s.Collective)
		if s.Partner.Messages > 0 {
			partners = append(partners, s)
		}
	}
	slices.SortFunc(partners, func(a, b Sender) int {
		return cmp.Or(cmp.Compare(b.Partner.Messages, a.Partner.Messages), cmp.Compare(b.Partner.Bytes, a.Partner.Bytes),
			cmp.Compare(a.Rank, b.Rank))
	})
	return partners, rest
}

// room returns how many of the partners get rings of their own: the most for which
// there is also a ring that is long enough for the others.
func room(partners []Sender, rest amt.Count, o Options, budget int) int {
	own := 0
	for _, s := range partners {
		own += fit(s.Partner.Largest, o)
	}
	largest := rest.Largest
	for n := len(partners); n > 0; n-- {
		if own+fit(largest, o) <= budget {
			return n
		}
		last := partners[n-1].Partner.Largest
		own -= fit(last, o)
		largest = max(largest, last)
	}
	return 0
}

// fit returns the size of a ring for messages of up to so many bytes, of which it
// may hold only a part if they are long.
func fit(largest uint64, o Options) int {
	if o.Ring != 0 {
		return o.Ring
	}
	return min(upTo(2*min(largest, DefaultRing)), DefaultRing)
}

// upTo returns the size of a ring that has room for so many bytes, if there is one.
func upTo(n uint64) int {
	size := amt.MinRing
	for size < amt.MaxRing && uint64(size) < n {
		size *= 2
	}
	return size
}

// grow makes rings longer as long as the budget has room: first those that are too
// short for a message, in order of frequency; then it doubles those that have most to
// carry for their size, but none beyond all that it has to carry.
func grow(loads []load, budget int) {
	order := make([]*load, len(loads))
	for i := range loads {
		order[i] = &loads[i]
		budget -= loads[i].size
	}
	for _, l := range order {
		if need := upTo(l.Largest); need > l.size && need-l.size <= budget {
			budget -= need - l.size
			l.size = need
		}
	}
	for grown := true; grown; {
		grown = false
		slices.SortStableFunc(order, func(a, b *load) int {
			return cmp.Compare(b.Bytes/uint64(b.size), a.Bytes/uint64(a.size))
		})
		for _, l := range order {
			if l.size <= budget && l.size < amt.MaxRing && uint64(l.size) < l.Bytes {
				budget -= l.size
				l.size *= 2
				grown = true
			}
		}
	}
}

// WriteTable writes the table's file, a line for each receiver.
func WriteTable(w io.Writer, t *amt.Table) error {
	out := bufio.NewWriter(w)
	program, err := json.Marshal(t.Program)
	fmt.Fprintf(out, `{"amt": %d, "ranks": %d, "program": %s, "receivers": [`, amt.TableVersion, t.Ranks, program)
	for i := range t.Receivers {
		line, e := json.Marshal(&t.Receivers[i])
		err = errors.Join(err, e)
		if i > 0 {
			fmt.Fprint(out, ",")
		}
		fmt.Fprintf(out, "\n %s", line)
	}
	fmt.Fprintln(out, "\n]}")
	return errors.Join(err, out.Flush())
}

// Bytes returns the memory of a receiver's rings.
func Bytes(r *amt.Rings) (sum int) {
	for _, size := range r.Rings {
		sum += size
	}
	return sum
}
