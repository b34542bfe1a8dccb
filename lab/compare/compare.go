package compare

import (
	"context"
	"fmt"
	"slices"
)

// A Side is one of the two commits.
type Side int

// The sides.
const (
	Old Side = iota
	New
)

// String returns the side's name.
func (s Side) String() string { return [...]string{"old", "new"}[s] }

// A Row is one measurement of both commits: one line of -json.
type Row struct {
	Name  string    `json:"name"`
	Unit  string    `json:"unit"`
	Less  bool      `json:"less_is_better"`
	Old   float64   `json:"old"` // medians of the rounds
	New   float64   `json:"new"`
	Ratio float64   `json:"ratio"` // new / old: the median of the rounds' ratios
	Least float64   `json:"ratio_least"`
	Most  float64   `json:"ratio_most"`
	Each  []float64 `json:"ratios"` // round by round
}

// Run measures both sides in turn, old and new and old and new, for some rounds. A round's ratio is that of two
// measurements which follow each other.
func Run(
	ctx context.Context, what []Measurement, rounds int,
	measure func(ctx context.Context, side Side, m Measurement) (float64, error),
) ([]Row, error) {
	figures := make([][2][]float64, len(what))
	for range rounds {
		for i, m := range what {
			for _, side := range []Side{Old, New} {
				v, err := measure(ctx, side, m)
				if err == nil && !(v > 0) {
					err = fmt.Errorf("a figure of %v %s", v, m.Unit)
				}
				if err != nil {
					return nil, fmt.Errorf("%s of the %s commit: %w", m.Name, side, err)
				}
				figures[i][side] = append(figures[i][side], v)
			}
		}
	}
	var rows []Row
	for i, m := range what {
		r := Row{Name: m.Name, Unit: m.Unit, Less: m.Less, Old: median(figures[i][Old]), New: median(figures[i][New])}
		for round, old := range figures[i][Old] {
			r.Each = append(r.Each, figures[i][New][round]/old)
		}
		r.Ratio = median(r.Each)
		r.Least = slices.Min(r.Each)
		r.Most = slices.Max(r.Each)
		rows = append(rows, r)
	}
	return rows, nil
}

// Verdict says what the spread of the ratios allows to say: "faster" or "slower" only if every round says so.
func (r Row) Verdict() string {
	switch {
	case r.Least <= 1 && r.Most >= 1:
		return "no difference shown"
	case r.Less == (r.Most < 1):
		return "faster in every round"
	}
	return "slower in every round"
}

// median returns the median of v, which is not empty.
func median(v []float64) float64 {
	v = slices.Sorted(slices.Values(v))
	return (v[(len(v)-1)/2] + v[len(v)/2]) / 2
}
