package advise

import (
	"math"
	"strings"
	"testing"

	"weft/internal/amt"
)

// A program in which each rank has as many partners as in the paper has the
// reduction that the formula gives, not always what the paper prints.
func TestTable1(t *testing.T) {
	formula := map[string]float64{"MG": 84.4, "CG": 92.2, "IS": 96.9, "LU": 92.2, "SP": 89.1, "BT": 89.1}
	for _, p := range Paper {
		var parts []amt.Part
		for rank := range PaperRanks {
			part := amt.Part{Rank: rank, Size: PaperRanks}
			for i := range p.Partners {
				part.Rows = append(part.Rows, rows(amt.Send, count(10, 1000, 100), (rank+i+1)%PaperRanks)...)
			}
			part.Rows = append(part.Rows, rows(amt.Collective, count(1, 8, 8), rank^32)...)
			parts = append(parts, part)
		}
		tr, err := NewTrace(parts)
		if err != nil {
			t.Fatal(err)
		}
		r, err := Table1(&p, PaperClass, tr, DefaultRing)
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(r.Reduction-formula[p.Program]) > 0.05 || r.Reduction != r.Formula || !r.Reached ||
			r.Dedicated != 64*DefaultRing ||
			r.Partners != (Spread{p.Partners, p.Partners, 64, p.Partners}) || r.Mean != float64(r.Advised.Most) {
			t.Errorf("%+v", r)
		}
		if odd := p.Program == "MG" || p.Program == "IS"; odd != strings.Contains(r.Note, "the paper prints") {
			t.Errorf("%s: %s", p.Program, r.Note)
		}
	}
}

// A job of another size has no line in the paper; one with a rank missing does not
// reach anything; more partners than the paper's are told.
func TestTable1OfOtherJobs(t *testing.T) {
	tr, err := NewTrace([]amt.Part{{Rank: 0, Size: 4, Rows: rows(amt.Send, count(1, 1, 1), 1, 2, 3)}})
	if err != nil {
		t.Fatal(err)
	}
	r, err := Table1(&Paper[0], "S", tr, 4096)
	if err != nil || r.Formula != 0 || r.Reached || r.Missing != 3 || r.Partners != (Spread{0, 1, 3, 1}) ||
		r.Advised != (Spread{4096, 8192, 3, 8192}) {
		t.Errorf("%v %+v", err, r)
	}
	var parts []amt.Part
	for rank := range PaperRanks {
		parts = append(parts, amt.Part{Rank: rank, Size: PaperRanks, Rows: rows(amt.Send, count(1, 1, 1), rank^1, rank^2)})
	}
	tr, err = NewTrace(parts)
	if err != nil {
		t.Fatal(err)
	}
	r, err = Table1(&Paper[2], "A", tr, 4096)
	if err != nil || r.Reached || !strings.Contains(r.Note, "partners in the paper: 1") {
		t.Errorf("%v %+v", err, r)
	}
}
