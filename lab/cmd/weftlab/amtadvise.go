package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"text/tabwriter"

	"github.com/peterbourgon/ff/v3/ffcli"

	"weft/internal/amt"
	"weft/internal/cli"
	"weft/internal/sys"
	"weft/lab/advise"
)

const amtAdviseHelp = `Proposes receive rings for each rank of a job whose trace was recorded by weft run -trace
FILE. FILE stands for its parts FILE.0, FILE.1 and so on. Each sender gets a ring, the
most frequent one first, until the budget of the rank is used up. One more ring is for all
other senders, and for the collective operations of all ranks.

The size of a ring follows from its messages, unless -ring sets it: room for two of the
longest, up to 64 KiB. Rings for longer messages, or for much traffic, become larger where
the budget allows it.

The output has the number of partners and the receive memory of a rank (least, most often
and most), and how much less that is than a ring for every rank.

EXAMPLES
  weftlab amt advise cg.trace
  weftlab amt advise -budget 256KiB -o cg.amt cg.trace
  weftlab amt advise -ring 16KiB -json cg.trace.*`

type amtAdviseFlags struct {
	budget, ring size
	out          string
	json         bool
}

func amtAdviseCommand() *ffcli.Command {
	fs := flag.NewFlagSet("weftlab amt advise", flag.ContinueOnError)
	f := &amtAdviseFlags{}
	fs.Var(&f.budget, "budget", "memory of each rank's rings (default one for each partner and one for the others)")
	fs.Var(&f.ring, "ring", "size of every ring, a power of two (default what its messages need)")
	fs.StringVar(&f.out, "o", "", "write the AMT to this file, for weft run -amt")
	fs.BoolVar(&f.json, "json", false, "print one JSON object for each rank")
	return &ffcli.Command{
		Name: "advise", ShortUsage: "weftlab amt advise [FLAGS] FILE…", ShortHelp: "propose receive rings from a trace",
		LongHelp: amtAdviseHelp, FlagSet: fs,
		Exec: func(ctx context.Context, args []string) error {
			if len(args) == 0 {
				return errors.New("amt advise: which trace? For example: weft run -n 4 -trace t ./examples/halo; weftlab amt advise t")
			}
			return f.run(args)
		},
	}
}

func (f *amtAdviseFlags) run(names []string) error {
	t, err := readTrace(names)
	if err != nil {
		return err
	}
	a, err := advise.Advise(t, advise.Options{Ring: int(f.ring), Budget: int(f.budget)})
	if err != nil {
		return err
	}
	if f.out != "" {
		if err := writeTable(f.out, a); err != nil {
			return err
		}
	}
	ring := int(f.ring)
	if ring == 0 {
		ring = advise.DefaultRing
	}
	all := advise.Memories(t, a, ring)
	if f.json {
		return cli.PrintJSON(all)
	}
	f.print(t, all, ring)
	return nil
}

func writeTable(name string, a *amt.Table) error {
	out, err := sys.CreateFresh(name)
	if err != nil {
		return err
	}
	return errors.Join(advise.WriteTable(out, a), out.Close())
}

func (f *amtAdviseFlags) print(t *advise.Trace, all []advise.Memory, ring int) {
	fmt.Printf("%s, %d ranks", t.Program, t.Size)
	if n := t.Missing(); n > 0 {
		fmt.Printf("; %d have left no trace: what they sent is not known", n)
	}
	fmt.Print("\n\n")
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "of a rank\tleast\tmost often\tmost")
	line := func(what string, text func(int) string, figure func(m *advise.Memory) int) advise.Spread {
		s := advise.SpreadOf(all, figure)
		fmt.Fprintf(w, "%s\t%s\t%s (%d ranks)\t%s\n", what, text(s.Least), text(s.Mode), s.Ranks, text(s.Most))
		return s
	}
	number := func(n int) string { return fmt.Sprint(n) }
	line("partners that send to it", number, func(m *advise.Memory) int { return m.Partners })
	line("rings of their own", number, func(m *advise.Memory) int { return m.Own })
	s := line("memory, one more ring shared", bytesText, func(m *advise.Memory) int { return m.Bytes })
	w.Flush()
	dedicated := t.Size * ring
	fmt.Printf("\na ring of %s for each of %d ranks would take %s: this is %.1f %% less, and no rank has less than "+
		"%.1f %%\n",
		bytesText(ring), t.Size, bytesText(dedicated), mean(all, dedicated), advise.Reduction(s.Most, dedicated))
	for i := range all {
		if m := &all[i]; m.Longest > 0 {
			fmt.Printf("rank %d gets messages of %s, longer than their ring: as IPUSH they need a larger budget\n", m.Rank,
				bytesText(int(m.Longest)))
			break
		}
	}
	if f.out != "" {
		fmt.Printf("\nuse it: weft run -n %d -amt %s %s\n", t.Size, f.out, t.Program)
	}
}

// mean returns the mean reduction of all ranks.
func mean(all []advise.Memory, dedicated int) (sum float64) {
	for i := range all {
		sum += advise.Reduction(all[i].Bytes, dedicated) / float64(len(all))
	}
	return sum
}
