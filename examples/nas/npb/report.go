package npb

import (
	"fmt"
	"io"
	"runtime"
	"time"
)

// A Report is what a benchmark prints when it has ended.
type Report struct {
	Name       string
	Class      string
	Size       int
	Iterations int
	Time       time.Duration
	Ranks      int
	Operations float64 // in all
	Operation  string
	Verified   bool
}

// Print prints the report in the form that all NPB programs use.
func (r *Report) Print(w io.Writer) {
	seconds := r.Time.Seconds()
	mops := r.Operations / seconds / 1e6
	fmt.Fprintf(w, "\n\n %s Benchmark Completed.\n", r.Name)
	row := func(name, format string, v any) { fmt.Fprintf(w, " %-16s= %24s\n", name, fmt.Sprintf(format, v)) }
	row("Class", "%s", r.Class)
	row("Size", "%d", r.Size)
	row("Iterations", "%d", r.Iterations)
	row("Time in seconds", "%.2f", seconds)
	row("Total processes", "%d", r.Ranks)
	row("Mop/s total", "%.2f", mops)
	row("Mop/s/process", "%.2f", mops/float64(r.Ranks))
	row("Operation type", "%s", r.Operation)
	row("Version", "%s", "weft, after NPB 3.4")
	row("Compiler", "%s", runtime.Version())
	verdict := "UNSUCCESSFUL"
	if r.Verified {
		verdict = "SUCCESSFUL"
	}
	row("Verification", "%s", verdict)
}
