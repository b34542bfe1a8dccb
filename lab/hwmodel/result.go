package hwmodel

import (
	"fmt"
	"math"
	"strings"
)

// A Table is a model and its results.
type Table struct {
	Name, Title string
	Paths       []Named
	Results     []Result
	Charts      []Chart
	Notes       []string
}

// A Kind says what an agreement between model and paper proves.
type Kind string

const (
	// Predicted means that the paper measured the figure independently of everything that the model reads, and that all
	// of this is parts that the same paper measured.
	Predicted Kind = "predicted"

	// Given means that the figure is one of the model's inputs.
	Given Kind = "an input"

	// Elsewhere means that the model reads a figure of another paper.
	Elsewhere Kind = "from another paper"

	// Assumed means that the model reads a value that was never measured.
	Assumed Kind = "from an assumption"

	// FromTotal means that the model reads the measured total of another path, or a part that the paper computed by
	// subtracting from one.
	FromTotal Kind = "from a measured total"

	// Hypothetical means that the model is of hardware that the paper does not have.
	Hypothetical Kind = "hypothetical"

	// OtherMachine means that the figure beside the model's was measured on another machine, by another paper.
	OtherMachine Kind = "of another machine"

	// ByConstruction means that the paper computed a part by subtracting from this very total, so agreement proves only
	// that the message visits every part once.
	ByConstruction Kind = "by construction"
)

// A Result is one figure of the model beside one of the paper, in the same unit.
type Result struct {
	What  string
	Paper float64 // 0: the paper has no figure
	Text  string  // what the paper says in words, where it gives no figure or a bound
	Model Figure
	Unit  string
	Says  Kind // Hypothetical, OtherMachine or ByConstruction; if empty, the kind follows from what Model reads
	Note  string
}

// Kind returns what the result proves, which cannot be more than the inputs of the model allow.
func (r Result) Kind() Kind {
	if r.Says != "" {
		return r.Says
	}
	return r.Model.kind()
}

// kind returns what a figure is, from what it reads.
func (f Figure) kind() Kind {
	switch of := f.Of(); {
	case of == OfTotal:
		return FromTotal
	case of == OfAssumption:
		return Assumed
	case of == OfElsewhere:
		return Elsewhere
	case f.isInput():
		return Given
	}
	return Predicted
}

// Kind returns what a point of a chart is.
func (p Point) Kind() Kind { return p.Model.kind() }

// Residual returns what the model leaves unexplained of the paper's figure, in the unit of both. It is printed, and no
// figure is computed from it. Of a bound it is a bound.
func (r Result) Residual() string {
	left := fmt.Sprintf("%.3g %s", math.Round(1e6*(r.Paper-r.Model.V))/1e6, r.Unit)
	switch {
	case r.Paper == 0:
		return "–"
	case strings.HasPrefix(r.Text, ">"):
		return "> " + left
	}
	return left
}

// compared returns a result whose kind follows from what the model reads.
func compared(what string, paper float64, model Figure, unit, note string) Result {
	return Result{What: what, Paper: paper, Model: model, Unit: unit, Note: note}
}

// constructed returns a result that agrees by construction.
func constructed(what string, paper float64, model Figure, unit, note string) Result {
	return Result{What: what, Paper: paper, Model: model, Unit: unit, Says: ByConstruction, Note: note}
}

// Inputs returns everything that the table's figures read, each input once.
func (t Table) Inputs() []*Input {
	var all []*Input
	for _, n := range t.Paths {
		for _, p := range n.Path {
			all = union(all, p.Reads)
		}
	}
	for _, r := range t.Results {
		all = union(all, r.Model.reads)
	}
	for _, c := range t.Charts {
		for _, l := range c.Lines {
			for _, p := range l.Points {
				all = union(all, p.Model.reads)
			}
		}
	}
	return all
}

// Tables returns all tables.
func Tables() []Table { return []Table{PMEthernet(), DIMMnet(), LANai(), RHiNET(), Pinning()} }
