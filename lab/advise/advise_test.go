package advise

import (
	"errors"
	"reflect"
	"slices"
	"testing"

	"weft/internal/amt"
)

// received makes a trace of 64 ranks, of which some have sent to rank 0.
func received(t *testing.T, from map[int]amt.Count, collective map[int]amt.Count) *Trace {
	t.Helper()
	var parts []amt.Part
	for rank := range 64 {
		p := amt.Part{Rank: rank, Size: 64, Job: "1"}
		if c, ok := from[rank]; ok {
			p.Rows = append(p.Rows, amt.Row{To: 0, Kind: amt.Send, Count: c})
		}
		if c, ok := collective[rank]; ok {
			p.Rows = append(p.Rows, amt.Row{To: 0, Kind: amt.Collective, Count: c})
		}
		parts = append(parts, p)
	}
	tr, err := NewTrace(parts)
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

func adviseFor0(t *testing.T, tr *Trace, o Options) amt.Rings {
	t.Helper()
	a, err := Advise(tr, o)
	if err != nil {
		t.Fatal(err)
	}
	again(t, a)
	r, ok := a.Of(0)
	if !ok || len(a.Receivers) != 1 {
		t.Fatalf("%+v", a)
	}
	return r
}

// With rings of one size each partner has one, and all else shares one more: the
// paper's formula.
func TestEachPartnerHasARing(t *testing.T) {
	tr := received(t, map[int]amt.Count{1: count(5, 500, 100), 8: count(9, 900, 100), 63: count(5, 400, 100)},
		map[int]amt.Count{32: count(1, 8, 8), 1: count(1, 8, 8)})
	r := adviseFor0(t, tr, Options{Ring: 8192})
	want := amt.Rings{Rank: 0, Rings: []int{8192, 8192, 8192, 8192}, Table: map[int]int{8: 1, 1: 2, 63: 3}}
	if !reflect.DeepEqual(r, want) {
		t.Errorf("%+v", r)
	}
}

// The budget decides how many have rings, and the least frequent share.
func TestBudget(t *testing.T) {
	from := map[int]amt.Count{1: count(5, 500, 100), 2: count(50, 500, 100), 3: count(500, 500, 100)}
	tr := received(t, from, nil)
	for budget, table := range map[int]map[int]int{
		8192: {}, 16383: {}, 16384: {3: 1}, 24576: {3: 1, 2: 2}, 1 << 20: {3: 1, 2: 2, 1: 3},
	} {
		r := adviseFor0(t, tr, Options{Ring: 8192, Budget: budget})
		if !reflect.DeepEqual(r.Table, table) || Bytes(&r) > budget {
			t.Errorf("%d: %+v", budget, r)
		}
	}
}

// Without a size for all, a ring follows from the largest message and the traffic.
func TestSizes(t *testing.T) {
	tr := received(t, map[int]amt.Count{
		1: count(1000, 8000, 8),     // short ones
		2: count(100, 1<<30, 20000), // much
		3: count(10, 10<<20, 1<<20),
	}, map[int]amt.Count{9: count(1, 8, 8)})
	r := adviseFor0(t, tr, Options{Budget: 1 << 20})
	if Bytes(&r) > 1<<20 || r.Table[1] != 1 || r.Table[2] != 2 || r.Table[3] != 3 {
		t.Fatalf("%+v", r)
	}
	if r.Rings[0] != amt.MinRing || r.Rings[1] != 8192 || r.Rings[2] != 512<<10 || r.Rings[3] < DefaultRing {
		t.Errorf("%v", r.Rings)
	}
	// A tight budget takes the ring of the least frequent first.
	r = adviseFor0(t, tr, Options{Budget: 132 << 10})
	if _, ok := r.Table[3]; ok || Bytes(&r) > 132<<10 || len(r.Table) != 2 {
		t.Errorf("%+v", r)
	}
	// Without one, each has a ring that is long enough.
	if r = adviseFor0(t, tr, Options{}); len(r.Table) != 3 || Bytes(&r) > 4<<20 || r.Rings[3] < 1<<20 || r.Longest != 0 {
		t.Errorf("%+v", r)
	}
	// What is too long for its ring is told.
	if r = adviseFor0(t, tr, Options{Budget: 512 << 10}); len(r.Table) != 3 || r.Longest != 1<<20 {
		t.Errorf("%+v", r)
	}
}

func TestBudgetsThatAreNone(t *testing.T) {
	tr := received(t, map[int]amt.Count{1: count(1, 8, 8)}, nil)
	var e *BudgetError
	for _, o := range []Options{{Ring: 8192, Budget: 8191}, {Budget: 4095}, {Budget: -1}} {
		if _, err := Advise(tr, o); !errors.As(err, &e) || e.Budget != o.Budget {
			t.Errorf("%+v: %v", o, err)
		}
	}
	var r *amt.RingError
	for _, size := range []int{-1, 1, 5000, 2048, 2 << 30} {
		if _, err := Advise(tr, Options{Ring: size}); !errors.As(err, &r) || r.Size != size {
			t.Errorf("%d: %v", size, err)
		}
	}
}

// However long messages are, the rings are what a table can have.
func TestMostMemory(t *testing.T) {
	from := map[int]amt.Count{}
	for rank := range 63 {
		from[rank+1] = count(1, 1<<63, 1<<63)
	}
	for _, o := range []Options{{}, {Ring: amt.MaxRing}, {Budget: 1 << 50}, {Ring: amt.MaxRing, Budget: 1 << 50}} {
		if r := adviseFor0(t, received(t, from, nil), o); Bytes(&r) > amt.MaxMemory || len(r.Table) != 63 {
			t.Errorf("%+v: %d bytes, %d in the table", o, Bytes(&r), len(r.Table))
		}
	}
}

// Where all send to all, the default gives all a ring, and a budget bounds it.
func TestAllToAll(t *testing.T) {
	from := map[int]amt.Count{}
	for rank := 1; rank < 64; rank++ {
		from[rank] = count(uint64(rank), 100, 10)
	}
	tr := received(t, from, nil)
	if r := adviseFor0(t, tr, Options{Ring: 4096}); len(r.Rings) != 64 || r.Table[63] != 1 {
		t.Errorf("%+v", r)
	}
	r := adviseFor0(t, tr, Options{Ring: 4096, Budget: 16 << 10})
	if have := len(r.Table); have != 3 || r.Table[61] != 3 {
		t.Errorf("%+v", r)
	}
}

// The order in which parts come makes no difference.
func TestAdviceDoesNotDependOnOrder(t *testing.T) {
	tr := received(t, map[int]amt.Count{1: count(5, 500, 100), 2: count(5, 500, 100), 3: count(5, 500, 100)}, nil)
	parts := slices.Clone(tr.Parts)
	slices.Reverse(parts)
	back, err := NewTrace(parts)
	if err != nil {
		t.Fatal(err)
	}
	a := adviseFor0(t, tr, Options{Budget: 12 << 10})
	b := adviseFor0(t, back, Options{Budget: 12 << 10})
	if !reflect.DeepEqual(a, b) {
		t.Errorf("%+v and %+v", a, b)
	}
}
