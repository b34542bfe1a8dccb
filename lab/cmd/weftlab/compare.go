package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"text/tabwriter"

	"github.com/peterbourgon/ff/v3/ffcli"

	"weft/internal/cli"
	"weft/lab/compare"
)

const compareHelp = `Compares two commits of weft. It builds both in git worktrees of this directory's repository,
runs the measurements in turn, old, new, old, new, and prints the figures' medians and the
ratio new / old: the median of the rounds, the least and the greatest. Only if all rounds
are on one side of 1 is anything said. Run it before a release, and when a path changes, on
a machine that does nothing else.

path is BenchmarkPath of the root package: the median over six random layouts of the linker
of the least of 40 times 1,000 rounds. The others are those of weftlab targets.

With -guard it measures path of the working tree alone, as a ratio to a fixed piece of
arithmetic. If that is above the limit it fails.

EXAMPLES
  weftlab compare -guard
  weftlab compare HEAD~1 HEAD
  weftlab compare -only send8,push8,path -rounds 11 v1.2.0 HEAD
  weftlab compare -json v1.2.0 HEAD > ratios.json`

func compareCommand() *ffcli.Command {
	fs := flag.NewFlagSet("weftlab compare", flag.ContinueOnError)
	only := fs.String("only", "", "names of the measurements, with commas (default all)")
	rounds := fs.Int("rounds", 5, "rounds")
	asJSON := fs.Bool("json", false, "print one JSON object a line")
	guard := fs.Bool("guard", false, "measure path of the working tree alone, against arithmetic")
	return &ffcli.Command{
		Name: "compare", ShortUsage: "weftlab compare [FLAGS] OLD NEW", ShortHelp: "two commits, measured in turn",
		LongHelp: compareHelp, FlagSet: fs,
		Exec: func(ctx context.Context, args []string) error {
			if *guard && len(args) == 0 {
				return watch(ctx, *asJSON)
			}
			if len(args) != 2 {
				return errors.New("compare: which two commits? For example: weftlab compare HEAD~1 HEAD")
			}
			if *rounds < 1 {
				return fmt.Errorf("compare: -rounds %d: must be at least 1", *rounds)
			}
			what, err := compare.Find(words(*only))
			if err != nil {
				return fmt.Errorf("compare: -only: %w", err)
			}
			rows, err := measureCommits(ctx, args[0], args[1], what, *rounds)
			if err != nil {
				return fmt.Errorf("compare: %w", err)
			}
			if *asJSON {
				return cli.PrintJSON(rows)
			}
			compareTable(rows)
			return nil
		},
	}
}

// watch measures the working tree, and returns an error if it is above the limit.
func watch(ctx context.Context, asJSON bool) error {
	ctx, stop := cli.UntilSignal(ctx)
	defer stop()
	g, err := compare.Watch(ctx, ".")
	if err != nil {
		return fmt.Errorf("compare: %w", err)
	}
	if asJSON {
		err = cli.PrintJSON([]compare.Guard{g})
	} else {
		fmt.Printf("path %.1f ns, arithmetic %.1f ns: ratio %.3f, limit %.2f\n", g.Path, g.Arithmetic, g.Ratio, g.Limit)
	}
	if err == nil && g.Ratio > g.Limit {
		err = fmt.Errorf("compare: path takes %.3f times the arithmetic, and %.2f is the limit: find the commit with "+
			"weftlab compare -only path OLD NEW", g.Ratio, g.Limit)
	}
	return err
}

// measureCommits builds both commits, measures them, and removes what was built.
func measureCommits(
	ctx context.Context, old, new string, what []compare.Measurement, rounds int,
) (rows []compare.Row, err error) {
	ctx, stop := cli.UntilSignal(ctx)
	defer stop()
	bench := slices.ContainsFunc(what, func(m compare.Measurement) bool { return m.Bench != "" })
	b, err := compare.Build(ctx, ".", old, new, bench)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	show := progress()
	defer progressEnds()
	done := 0
	return compare.Run(ctx, what, rounds, func(ctx context.Context, side compare.Side, m compare.Measurement) (float64, error) {
		show(done/(2*len(what)), m.Name+", "+side.String())
		done++
		return b.Measure(ctx, side, m)
	})
}

func compareTable(rows []compare.Row) {
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	defer w.Flush()
	fmt.Fprintln(w, "measurement\told\tnew\tnew / old\tleast\tgreatest\tnew is")
	for _, r := range rows {
		fmt.Fprintf(w, "%s\t%.4g %s\t%.4g %s\t%.3f\t%.3f\t%.3f\t%s\n", r.Name, r.Old, r.Unit, r.New, r.Unit, r.Ratio, r.Least,
			r.Most, r.Verdict())
	}
}
