package services

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
)

// Command adds the flags of a measurement to a set. It returns a function that, when the flags have been parsed,
// runs the measurement and prints the results.
func Command(fs *flag.FlagSet) func(ctx context.Context, w io.Writer, progress func(round int, what string)) error {
	systems := fs.String("systems", "", "what carries the requests, with commas: "+strings.Join(Systems, ", ")+
		"; in a lab "+strings.Join(betweenHosts, ", ")+"; none given means all")
	names := fs.String("protocols", strings.Join(Names(), ","), "which requests, with commas")
	connections := fs.String("connections", "1,64,1000", "numbers of connections, with commas")
	requests := fs.Int("requests", 20000, "requests of each measurement; a twentieth of them where an answer has 1 MiB")
	rounds := fs.Int("rounds", 5, "rounds")
	asJSON := fs.Bool("json", false, "print one JSON object a line")
	page := fs.String("write", "", "put the medians over streams and Unix sockets into a page, docs/STREAMS.md")
	return func(ctx context.Context, w io.Writer, progress func(int, string)) error {
		here, _, err := places()
		if err != nil {
			return err
		}
		s := Spec{Systems: split(*systems), Protocols: split(*names), Requests: *requests, Rounds: *rounds}
		if len(s.Systems) == 0 {
			s.Systems = here
		}
		for _, text := range split(*connections) {
			n, err := strconv.Atoi(text)
			if err != nil || n < 1 || n > 100000 {
				return fmt.Errorf("perf services: -connections %q: must be numbers from 1 to 100000", *connections)
			}
			s.Connections = append(s.Connections, n)
		}
		if err := s.check(here); err != nil {
			return err
		}
		results := Run(ctx, s, progress)
		if *asJSON {
			enc := json.NewEncoder(w)
			for _, r := range results {
				if err := enc.Encode(r); err != nil {
					return err
				}
			}
		} else if err := table(w, results); err != nil {
			return err
		}
		for _, r := range results {
			if r.Error != "" {
				return fmt.Errorf("perf services: %s over %s: %s", r.Protocol, r.System, r.Error)
			}
		}
		if *page != "" {
			return write(*page, results)
		}
		return nil
	}
}

func split(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return r == ',' })
}

// check returns an error that says which protocols there are, and which of the systems here, if s names another one.
func (s Spec) check(here []string) error {
	for _, name := range s.Systems {
		if !slices.Contains(here, name) {
			return fmt.Errorf("perf services: -systems %q: here there are %s", name, strings.Join(here, ", "))
		}
	}
	for _, name := range s.Protocols {
		if !slices.Contains(Names(), name) {
			return fmt.Errorf("perf services: -protocols %q: there are %s", name, strings.Join(Names(), ", "))
		}
	}
	if s.Requests < 1 || s.Rounds < 1 {
		return fmt.Errorf("perf services: -requests and -rounds must be 1 or more")
	}
	return nil
}

// table prints results as text. The median of each system is compared with that of the first.
func table(out io.Writer, results []Result) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "requests\tconnections\tover\tmedian µs\tp99\tp99.9\trequests/s\tMB/s\t"+
		"processor µs each\tmedian is\t")
	var first Result
	for _, r := range results {
		if r.Protocol != first.Protocol || r.Connections != first.Connections {
			first = r
		}
		if r.Error != "" {
			fmt.Fprintf(w, "%s\t%d\t%s\tfailed: %s\t\n", r.Protocol, r.Connections, r.System, r.Error)
			continue
		}
		ratio := "-"
		if r.System != first.System && first.P50 > 0 {
			ratio = fmt.Sprintf("%.2f × %s", r.P50/first.P50, first.System)
		}
		fmt.Fprintf(w, "%s\t%d\t%s\t%.1f\t%.1f\t%.1f\t%.0f\t%.1f\t%.1f\t%s\t\n",
			r.Protocol, r.Connections, r.System, r.P50, r.P99, r.P999, r.Rate, r.MBs, r.CPU, ratio)
	}
	return w.Flush()
}
