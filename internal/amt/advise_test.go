package amt

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// received makes a trace of 64 ranks, of which some have sent to rank 0.
func received(t *testing.T, from map[int]Count, collective map[int]Count) *Trace {
	t.Helper()
	var parts []Part
	for rank := range 64 {
		p := Part{Rank: rank, Size: 64, Job: "1"}
		if c, ok := from[rank]; ok {
			p.Rows = append(p.Rows, Row{0, Send, c})
		}
		if c, ok := collective[rank]; ok {
			p.Rows = append(p.Rows, Row{0, Collective, c})
		}
		parts = append(parts, p)
	}
	tr, err := NewTrace(parts)
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

func adviseFor0(t *testing.T, tr *Trace, o Options) Rings {
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
	tr := received(t, map[int]Count{1: {5, 500, 100}, 8: {9, 900, 100}, 63: {5, 400, 100}},
		map[int]Count{32: {1, 8, 8}, 1: {1, 8, 8}})
	r := adviseFor0(t, tr, Options{Ring: 8192})
	want := Rings{Rank: 0, Rings: []int{8192, 8192, 8192, 8192}, Table: map[int]int{8: 1, 1: 2, 63: 3}}
	if !reflect.DeepEqual(r, want) {
		t.Errorf("%+v", r)
	}
}

// The budget decides how many have rings, and the least frequent share.
func TestBudget(t *testing.T) {
	from := map[int]Count{1: {5, 500, 100}, 2: {50, 500, 100}, 3: {500, 500, 100}}
	tr := received(t, from, nil)
	for budget, table := range map[int]map[int]int{
		8192: {}, 16383: {}, 16384: {3: 1}, 24576: {3: 1, 2: 2}, 1 << 20: {3: 1, 2: 2, 1: 3},
	} {
		r := adviseFor0(t, tr, Options{Ring: 8192, Budget: budget})
		if !reflect.DeepEqual(r.Table, table) || r.Bytes() > budget {
			t.Errorf("%d: %+v", budget, r)
		}
	}
}

// Without a size for all, a ring follows from the largest message and the traffic.
func TestSizes(t *testing.T) {
	tr := received(t, map[int]Count{
		1: {1000, 8000, 8},       // short ones
		2: {100, 1 << 30, 20000}, // much
		3: {10, 10 << 20, 1 << 20},
	}, map[int]Count{9: {1, 8, 8}})
	r := adviseFor0(t, tr, Options{Budget: 1 << 20})
	if r.Bytes() > 1<<20 || r.Table[1] != 1 || r.Table[2] != 2 || r.Table[3] != 3 {
		t.Fatalf("%+v", r)
	}
	if r.Rings[0] != MinRing || r.Rings[1] != 8192 || r.Rings[2] != 512<<10 || r.Rings[3] < DefaultRing {
		t.Errorf("%v", r.Rings)
	}
	// A tight budget takes the ring of the least frequent first.
	r = adviseFor0(t, tr, Options{Budget: 132 << 10})
	if _, ok := r.Table[3]; ok || r.Bytes() > 132<<10 || len(r.Table) != 2 {
		t.Errorf("%+v", r)
	}
	// Without one, each has a ring that is long enough.
	if r = adviseFor0(t, tr, Options{}); len(r.Table) != 3 || r.Bytes() > 4<<20 || r.Rings[3] < 1<<20 || r.Longest != 0 {
		t.Errorf("%+v", r)
	}
	// What is too long for its ring is told.
	if r = adviseFor0(t, tr, Options{Budget: 512 << 10}); len(r.Table) != 3 || r.Longest != 1<<20 {
		t.Errorf("%+v", r)
	}
}

func TestBudgetsThatAreNone(t *testing.T) {
	tr := received(t, map[int]Count{1: {1, 8, 8}}, nil)
	var e *BudgetError
	for _, o := range []Options{{Ring: 8192, Budget: 8191}, {Budget: 4095}, {Budget: -1}} {
		if _, err := Advise(tr, o); !errors.As(err, &e) || e.Budget != o.Budget {
			t.Errorf("%+v: %v", o, err)
		}
	}
	var r *RingError
	for _, size := range []int{-1, 1, 5000, 2048, 2 << 30} {
		if _, err := Advise(tr, Options{Ring: size}); !errors.As(err, &r) || r.Size != size {
			t.Errorf("%d: %v", size, err)
		}
	}
}

// However long messages are, the rings are what a table can have.
func TestMostMemory(t *testing.T) {
	from := map[int]Count{}
	for rank := range 63 {
		from[rank+1] = Count{1, 1 << 63, 1 << 63}
	}
	for _, o := range []Options{{}, {Ring: MaxRing}, {Budget: 1 << 50}, {Ring: MaxRing, Budget: 1 << 50}} {
		if r := adviseFor0(t, received(t, from, nil), o); r.Bytes() > maxMemory || len(r.Table) != 63 {
			t.Errorf("%+v: %d bytes, %d in the table", o, r.Bytes(), len(r.Table))
		}
	}
}

// Where all send to all, the default gives all a ring, and a budget bounds it.
func TestAllToAll(t *testing.T) {
	from := map[int]Count{}
	for rank := 1; rank < 64; rank++ {
		from[rank] = Count{uint64(rank), 100, 10}
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

func TestOwnAt(t *testing.T) {
	a := Table{Ranks: 4, Receivers: []Rings{
		{Rank: 0, Rings: []int{4096, 4096}, Table: map[int]int{3: 1}},
		{Rank: 1, Rings: []int{4096, 4096}, Table: map[int]int{3: 1, 2: 1}}, // they share it
		{Rank: 2, Rings: []int{4096}, Table: map[int]int{3: 0}},
	}}
	if own := a.OwnAt(3); len(own) != 1 || !own[0] {
		t.Error(own)
	}
	if own := a.OwnAt(2); len(own) != 0 {
		t.Error(own)
	}
	if _, ok := a.Of(3); ok {
		t.Error("rank 3 has rings")
	}
}

func TestTablesThatAreNone(t *testing.T) {
	for text, why := range map[string]string{
		`{`:                   "no AMT file",
		`{"amt":2,"ranks":1}`: "begins with",
		`{"amt":1,"ranks":0}`: "for 0 ranks",
		`{"amt":1,"ranks":4,"receivers":[{"rank":4,"rings":[4096]}]}`:                           "below 4",
		`{"amt":1,"ranks":4,"receivers":[{"rank":1,"rings":[4096]},{"rank":1,"rings":[4096]}]}`: "ascend",
		`{"amt":1,"ranks":4,"receivers":[{"rank":1,"rings":[]}]}`:                               "no ring",
		`{"amt":1,"ranks":4,"receivers":[{"rank":1,"rings":[5]}]}`:                              "a ring of 5 bytes",
		`{"amt":1,"ranks":4,"receivers":[{"rank":1,"rings":[4096],"table":{"9":0}}]}`:           "sender 9 of 4",
		`{"amt":1,"ranks":4,"receivers":[{"rank":1,"rings":[4096],"table":{"2":1}}]}`:           "ring 1 of 1",
	} {
		if err := readTable(text); !errors.Is(err, ErrTable) || !contains(err, why) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func FuzzTable(f *testing.F) {
	f.Add(`{"amt":1,"ranks":4,"receivers":[{"rank":1,"rings":[4096,8192],"table":{"2":1}}]}`)
	f.Fuzz(func(t *testing.T, text string) { readTable(text) })
}

// The order in which parts come makes no difference.
func TestAdviceDoesNotDependOnOrder(t *testing.T) {
	tr := received(t, map[int]Count{1: {5, 500, 100}, 2: {5, 500, 100}, 3: {5, 500, 100}}, nil)
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

func readTable(text string) error {
	_, err := ReadTable(strings.NewReader(text))
	return err
}

func contains(err error, text string) bool { return strings.Contains(err.Error(), text) }
