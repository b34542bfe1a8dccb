package advise

import (
	"fmt"
	"math"
)

// PaperRanks and PaperClass are those of the paper's table.
const (
	PaperRanks = 64
	PaperClass = "A"
)

// A PaperRow is a line of table 1 of [Kitamura06]: the receive memory of a benchmark's
// 64 processes, with as many rings of N bytes as the process with the most partners
// needs, and one more, against 64.
type PaperRow struct {
	Program  string
	Partners int
	Printed  float64 // reduction in per cent
}

// Paper is the paper's table 1.
var Paper = []PaperRow{
	{"MG", 9, 76.6}, {"CG", 4, 92.2}, {"IS", 1, 98.4}, {"LU", 4, 92.2}, {"SP", 6, 89.1}, {"BT", 6, 89.1},
}

// Formula returns the reduction that the paper's formula gives for its partners.
func (p *PaperRow) Formula() float64 { return Reduction(p.Partners+1, PaperRanks) }

// A Table1Row is a line of the table as computed from a trace.
type Table1Row struct {
	Program   string  `json:"program"`
	Class     string  `json:"class"`
	Ranks     int     `json:"ranks"`
	Missing   int     `json:"ranks_without_trace,omitempty"`
	Partners  Spread  `json:"partners"`
	Dedicated int     `json:"dedicated_bytes"` // of each rank
	Advised   Spread  `json:"advised_bytes"`
	Mean      float64 `json:"advised_mean_bytes"`
	Reduction float64 `json:"reduction_percent"` // of the rank with the most

	PaperPartners int     `json:"paper_partners,omitempty"`
	Printed       float64 `json:"paper_percent,omitempty"`
	Formula       float64 `json:"formula_percent,omitempty"`
	Reached       bool    `json:"reached,omitempty"` // the formula's reduction
	Note          string  `json:"note,omitempty"`
}

// Table1 computes a line of the table, with rings of one size. The paper's figures
// stand beside it where the trace is of as many ranks.
func Table1(p *PaperRow, class string, t *Trace, ring int) (Table1Row, error) {
	a, err := Advise(t, Options{Ring: ring})
	if err != nil {
		return Table1Row{}, err
	}
	all := Memories(t, a, ring)
	r := Table1Row{
		Program: p.Program, Class: class, Ranks: t.Size, Missing: t.Missing(), Dedicated: t.Size * ring,
		Partners: SpreadOf(all, func(m *Memory) int { return m.Partners }),
		Advised:  SpreadOf(all, func(m *Memory) int { return m.Bytes }),
	}
	for i := range all {
		r.Mean += float64(all[i].Bytes) / float64(len(all))
	}
	r.Reduction = Reduction(r.Advised.Most, r.Dedicated)
	if t.Size == PaperRanks {
		r.PaperPartners = p.Partners
		r.Printed = p.Printed
		r.Formula = p.Formula()
		r.Reached = r.Missing == 0 && r.Reduction >= r.Formula
		r.Note = p.note(r.Partners.Most)
	}
	return r, nil
}

// note tells where the paper, its formula and the trace differ.
func (p *PaperRow) note(partners int) (text string) {
	if math.Abs(p.Printed-p.Formula()) > 0.1 {
		rings := math.Round(PaperRanks * (1 - p.Printed/100))
		text = fmt.Sprintf("the paper prints what %g of 64 rings take, its formula %d", rings, p.Partners+1)
	}
	if partners != p.Partners {
		if text != "" {
			text += "; "
		}
		text += fmt.Sprintf("partners in the paper: %d", p.Partners)
	}
	return text
}
