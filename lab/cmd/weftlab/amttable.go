package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/peterbourgon/ff/v3/ffcli"

	"weft/internal/cli"
	"weft/internal/launch"
	"weft/lab/advise"
)

const amtTableHelp = `Computes table 1 of [Kitamura06] from traces: the receive memory that a rank of the NAS
benchmarks needs when each partner has a ring and all others share one, compared with a
ring for every rank. Beside it stand the figures that the paper prints, and those that its
formula gives. A partner of a rank is another rank that sends to it outside of collective
operations of all ranks.

With -run the benchmarks are run first, which needs weft's source directory, and their
traces are left in -dir. Without -run the traces are read from -dir.

EXAMPLES
  weftlab amt table -run -dir traces             64 ranks, class A: takes minutes
  weftlab amt table -dir traces -json
  weftlab amt table -run -class S -only mg,cg,is     the same partners, at once
  weftlab amt table -run -class W -only lu,sp,bt     these take no fewer points`

type amtTableFlags struct {
	run, json        bool
	n                int
	ring             size
	class, dir, only string
}

func amtTableCommand() *ffcli.Command {
	fs := flag.NewFlagSet("weftlab amt table", flag.ContinueOnError)
	f := &amtTableFlags{ring: advise.DefaultRing}
	fs.BoolVar(&f.run, "run", false, "run the benchmarks first")
	fs.IntVar(&f.n, "n", advise.PaperRanks, "with -run: number of ranks")
	fs.StringVar(&f.class, "class", advise.PaperClass, "class of the benchmarks, S, W, A or B")
	fs.StringVar(&f.dir, "dir", "", "directory of the traces (default, with -run, one that is removed)")
	fs.StringVar(&f.only, "only", "", "the benchmarks, with commas (default mg,cg,is,lu,sp,bt)")
	fs.Var(&f.ring, "ring", "size of every ring, a power of two")
	fs.BoolVar(&f.json, "json", false, "print one JSON object for each benchmark")
	return &ffcli.Command{
		Name: "table", ShortUsage: "weftlab amt table [-run] [FLAGS]",
		ShortHelp: "receive memory of the NAS benchmarks, as in the paper",
		LongHelp:  amtTableHelp, FlagSet: fs,
		Exec: func(ctx context.Context, args []string) error {
			switch {
			case len(args) > 0:
				return fmt.Errorf("amt table: %q: benchmarks are named by -only", args[0])
			case !f.run && f.dir == "":
				return errors.New("amt table: where are the traces? -dir names their directory, and -run records them")
			}
			return f.compute(ctx)
		},
	}
}

func (f *amtTableFlags) compute(ctx context.Context) error {
	wanted, err := f.programs()
	if err != nil {
		return err
	}
	if f.dir == "" {
		temp, err := os.MkdirTemp("", "weft-table-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(temp)
		f.dir = temp
	} else if err := os.MkdirAll(f.dir, 0o777); err != nil {
		return err
	}
	var rows []advise.Table1Row
	var missing []string
	for _, p := range wanted {
		file := filepath.Join(f.dir, strings.ToLower(p.Program))
		if f.run {
			if err := f.record(ctx, p.Program, file); err != nil {
				missing = append(missing, err.Error())
				continue
			}
		}
		t, err := readTrace([]string{file})
		if err == nil {
			var r advise.Table1Row
			r, err = advise.Table1(&p, f.class, t, int(f.ring))
			rows = append(rows, r)
		}
		if err != nil {
			missing = append(missing, err.Error())
		}
	}
	if f.json {
		err = cli.PrintJSON(rows)
	} else {
		f.print(rows)
	}
	if err == nil && len(missing) > 0 {
		err = fmt.Errorf("amt table: %s", strings.Join(missing, "; "))
	}
	return err
}

// programs returns the benchmarks that -only names.
func (f *amtTableFlags) programs() ([]advise.PaperRow, error) {
	names := words(f.only)
	if len(names) == 0 {
		return advise.Paper, nil
	}
	var wanted []advise.PaperRow
	for _, name := range names {
		i := slices.IndexFunc(advise.Paper, func(p advise.PaperRow) bool { return strings.EqualFold(p.Program, name) })
		if i < 0 {
			return nil, fmt.Errorf("amt table: there is no benchmark %q in the table; there are mg, cg, is, lu, sp and bt", name)
		}
		wanted = append(wanted, advise.Paper[i])
	}
	return wanted, nil
}

// record runs a benchmark, and leaves its trace. Each rank has a host of its own, as in the paper: members of one host
// carry out an operation of a group in memory, or by messages, as their measured delays tell them.
func (f *amtTableFlags) record(ctx context.Context, name, file string) error {
	ctx, stop := cli.UntilSignal(ctx)
	defer stop()
	program, release, err := launch.Resolve(ctx, "./examples/nas/"+strings.ToLower(name))
	if err != nil {
		return err
	}
	defer release()
	if watched() {
		fmt.Fprintf(os.Stderr, "\r\033[K%s, class %s, %d ranks ", name, f.class, f.n)
	}
	var report strings.Builder
	result, err := launch.Run(ctx, launch.Job{
		Program: program, Args: []string{"-class", f.class}, N: f.n, Pretend: f.n, Env: []string{traceEnv(file)},
		Stdout: io.Discard, Stderr: &report, Report: &report,
	}, nil)
	progressEnds()
	if err == nil && result.Status != 0 {
		first, _, _ := strings.Cut(report.String(), "\n")
		err = fmt.Errorf("%s: %s", name, first)
	}
	return err
}

// traceEnv is the environment that makes the ranks of a job write a trace.
func traceEnv(file string) string { return "WEFT_TRACE=" + cli.Absolute(file) }

func (f *amtTableFlags) print(rows []advise.Table1Row) {
	fmt.Printf("receive memory of a rank with rings of %s: of the one that needs most (on average)\n\n",
		bytesText(int(f.ring)))
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "program\tclass\tranks\tpartners least, most often, most\ta ring for all\tadvised "+
		"AMT\treduction\tpaper\tformula\tnote")
	for _, r := range rows {
		printed := "-"
		formula := "-"
		if r.Formula > 0 {
			printed = fmt.Sprintf("%.1f %%", r.Printed)
			formula = fmt.Sprintf("%.1f %%", r.Formula)
		}
		note := r.Note
		if r.Missing > 0 {
			note = fmt.Sprintf("%d ranks have left no trace; %s", r.Missing, note)
		}
		fmt.Fprintf(w, "%s\t%s\t%d\t%d, %d (%d ranks), %d\t%s\t%s (%s)\t%.1f %%\t%s\t%s\t%s\n",
			r.Program, r.Class, r.Ranks, r.Partners.Least, r.Partners.Mode, r.Partners.Ranks, r.Partners.Most,
			bytesText(r.Dedicated), bytesText(r.Advised.Most), bytesText(int(r.Mean)), r.Reduction, printed, formula, note)
	}
	w.Flush()
}
