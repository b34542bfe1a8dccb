package top

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"weft/internal/counters"
)

// A View says how the ranks of a job are shown.
type View struct {
	Sort    string // a column of Columns; "" means rank
	Reverse bool
	Filter  string // only rows in which it appears, in whatever column
}

// A column is one of a table of ranks, or of connections.
type column[R any] struct {
	name string
	text func(r R) string
	less func(a, b R) int // as they are sorted
}

// number makes a column of numbers, of which the largest come first.
func number[R any](name string, value func(r R) float64, text func(float64) string) column[R] {
	return column[R]{
		name: name,
		text: func(r R) string {
			if v := value(r); v >= 0 {
				return text(v)
			}
			return "-"
		},
		less: func(a, b R) int { return cmp.Compare(value(b), value(a)) },
	}
}

func words[R any](name string, text func(r R) string) column[R] {
	return column[R]{name: name, text: text, less: func(a, b R) int { return cmp.Compare(text(a), text(b)) }}
}

// counted returns a value of a rank's counts; below zero: it has none.
func counted(value func(r *Rank) float64) func(r *Rank) float64 {
	return func(r *Rank) float64 {
		if r.Counts == nil {
			return -1
		}
		return value(r)
	}
}

// rated returns a value of a rank's rates; below zero: it has none.
func rated(value func(r *Rates) float64) func(r *Rank) float64 {
	return func(r *Rank) float64 {
		if r.Rates == nil {
			return -1
		}
		return value(r.Rates)
	}
}

var columns = []column[*Rank]{
	{"rank", func(r *Rank) string { return strconv.Itoa(r.Rank) },
		func(a, b *Rank) int { return cmp.Compare(a.Rank, b.Rank) }},
	words("host", func(r *Rank) string { return r.Host }),
	words("pid", func(r *Rank) string { return strconv.Itoa(r.PID) }),
	words("state", func(r *Rank) string { return r.State }),
	number("cpu", func(r *Rank) float64 { return r.CPU }, func(v float64) string { return fmt.Sprintf("%.0f%%", 100*v) }),
	number("out/s", rated(func(r *Rates) float64 { return r.Sent.Messages }), count),
	number("outB/s", rated(func(r *Rates) float64 { return r.Sent.Bytes }), size),
	number("in/s", rated(func(r *Rates) float64 { return r.Received.Messages }), count),
	number("inB/s", rated(func(r *Rates) float64 { return r.Received.Bytes }), size),
	number("poll", rated(func(r *Rates) float64 { return r.Polling }), share),
	number("sleep", rated(func(r *Rates) float64 { return r.Asleep }), share),
	number("resent", counted(func(r *Rank) float64 { return float64(r.Counts.Sent.Resent) }), count),
	number("lost", counted(func(r *Rank) float64 { return float64(r.Counts.Sent.Lost + r.Counts.Received.Lost) }), count),
	number("refused", counted(func(r *Rank) float64 { return float64(r.Counts.Sent.Refused) }), count),
	number("memory", counted(func(r *Rank) float64 { return float64(r.Counts.Memory) }), size),
	number("errors", counted(func(r *Rank) float64 { return float64(len(r.Counts.Errors)) }), count),
	words("waits for", func(r *Rank) string { return r.waits() }),
}

// Columns returns the names of the columns of all tables.
func Columns() []string { return append(names(columns), names(connColumns)...) }

func names[R any](columns []column[R]) (names []string) {
	for _, c := range columns {
		names = append(names, c.name)
	}
	return names
}

// A Table is a job with its ranks, or a server with its connections.
type Table struct {
	Title   string
	Columns []string
	Rows    [][]string
	Lines   []string // told below the rows
}

// Tables returns what is shown of a sample, with so many pairs of ranks a job.
func (s *Sample) Tables(v View, pairs int) (tables []Table) {
	for _, j := range s.Jobs {
		tables = append(tables, Table{j.Title(s.Time), names(columns), rows(columns, j.Ranks, v), j.Lines(pairs)})
	}
	for _, k := range s.Servers {
		tables = append(tables, Table{k.Title(), names(connColumns), rows(connColumns, k.Conns, v), k.Lines()})
	}
	return tables
}

// waits says what a rank waits for, and since when.
func (r *Rank) waits() string {
	if len(r.Waits) == 0 {
		return ""
	}
	since := time.Duration(r.Waits[0].Seconds * float64(time.Second)).Round(time.Millisecond)
	text := fmt.Sprintf("%s, for %v", r.Needs, since)
	if n := len(r.Waits) - 1; n > 0 {
		text += fmt.Sprintf(", and %d more", n)
	}
	return text
}

// rows returns what is to be shown of ranks, or of connections.
func rows[R any](columns []column[R], all []R, v View) (rows [][]string) {
	all = slices.Clone(all)
	for _, c := range columns {
		if c.name == v.Sort {
			slices.SortStableFunc(all, c.less)
		}
	}
	if v.Reverse {
		slices.Reverse(all)
	}
	for _, r := range all {
		var row []string
		for _, c := range columns {
			row = append(row, counters.Printable(c.text(r)))
		}
		if strings.Contains(strings.Join(row, " "), v.Filter) {
			rows = append(rows, row)
		}
	}
	return rows
}

// Title says which job it is.
func (j *Job) Title(now time.Time) string {
	launcher := "others started it"
	switch {
	case j.By != "":
		launcher = fmt.Sprintf("%s, rank 0 is process %d", j.By, j.Launcher)
	case j.Launcher > 0:
		launcher = fmt.Sprintf("weft run %d", j.Launcher)
	}
	return fmt.Sprintf("%s: %s, %d ranks, for %v", launcher, j.Program, j.Size, now.Sub(j.Started).Round(time.Second))
}

// Lines returns what is told below the ranks: the hottest pairs, deadlocks and errors.
func (j *Job) Lines(pairs int) (lines []string) {
	for i, p := range j.Pairs {
		if i == pairs || p.Bytes == 0 {
			break
		}
		rate := size(float64(p.Bytes)) + "B"
		if p.Rate != nil {
			rate = fmt.Sprintf("%sB/s, %s messages/s", size(p.Rate.Bytes), count(p.Rate.Messages))
		}
		line := fmt.Sprintf("%d → %d by %s: %s", p.From, p.To, cmp.Or(p.Transport, "itself"), rate)
		if p.RTT > 0 {
			line += fmt.Sprintf(", round trip %v", p.RTT.Round(time.Microsecond))
		}
		if p.Resent > 0 {
			line += fmt.Sprintf(", %d packets resent", p.Resent)
		}
		lines = append(lines, line)
	}
	for _, d := range j.Deadlocks {
		lines = append(lines, "DEADLOCK: "+counters.Printable(d))
	}
	for _, r := range j.Ranks {
		if r.Counts == nil {
			continue
		}
		for _, e := range r.Counts.Errors {
			about := ""
			if e.Peer >= 0 {
				about = fmt.Sprintf(", of rank %d", e.Peer)
			}
			lines = append(lines,
				fmt.Sprintf("error at rank %d: %s%s: %d times, last %s", r.Rank, e.Text, about, e.Count,
					e.Last.Format(time.TimeOnly)))
		}
	}
	return lines
}

// WriteText writes a sample for people.
func (s *Sample) WriteText(w io.Writer, v View) error {
	for i, table := range s.Tables(v, 10) {
		if i > 0 {
			fmt.Fprintln(w)
		}
		if err := table.write(w); err != nil {
			return err
		}
	}
	return nil
}

// WriteLines writes as much of a sample as fits on a screen of so many lines, and ends no last line.
func (s *Sample) WriteLines(w io.Writer, v View, lines int) error {
	text := Nothing
	if len(s.Jobs)+len(s.Servers) > 0 {
		var b strings.Builder
		if err := s.WriteText(&b, v); err != nil {
			return err
		}
		text = strings.TrimSuffix(b.String(), "\n")
	}
	all := strings.Split(text, "\n")
	_, err := io.WriteString(w, strings.Join(all[:min(lines, len(all))], "\n"))
	return err
}

func (table *Table) write(w io.Writer) error {
	fmt.Fprintln(w, table.Title)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	if len(table.Rows) > 0 {
		fmt.Fprintln(t, strings.Join(table.Columns, "\t"))
	}
	for _, row := range table.Rows {
		fmt.Fprintln(t, strings.Join(row, "\t"))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for _, line := range table.Lines {
		fmt.Fprintln(w, line)
	}
	return nil
}

// count and size write numbers shortly: with at most four digits, and k, M, G for thousands.
func count(v float64) string { return short(v, 1000, "", "k", "M", "G", "T") }

func size(v float64) string { return short(v, 1024, "", "Ki", "Mi", "Gi", "Ti") }

func short(v, step float64, units ...string) string {
	for i, u := range units {
		if v < step || i == len(units)-1 {
			if v < 10 && v != float64(int(v)) {
				return fmt.Sprintf("%.1f%s", v, u)
			}
			return fmt.Sprintf("%.0f%s", v, u)
		}
		v /= step
	}
	return ""
}

func share(v float64) string { return fmt.Sprintf("%.2f", v) }
