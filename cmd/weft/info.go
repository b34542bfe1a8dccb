package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/peterbourgon/ff/v3/ffcli"

	"weft"
	"weft/internal/bootstrap/environment"
	"weft/internal/cli"
	"weft/internal/join"
	"weft/internal/launch"
	"weft/internal/sys"
)

const infoHelp = `Shows how weft would run a job on this machine, and why. It starts a job in which
every rank connects to every other, and prints

  for each pair of ranks   the transport, the longest packet, what protects the packets
                           and against what (docs/SECURITY.md)
  for each rank            how it waits, its processors, and the memory that it holds
  for this environment     whether a program started here joins a job, and which one
                           (docs/LAUNCHERS.md)

EXAMPLES
  weft info
  weft info -n 4 -pretend 2     two pretended hosts: shared memory and UDP
  weft info -n 2 -bind-to core  the processor core of each rank
  weft info -n 4 -json
  weft info -env                the environment variables that configure programs`

// infoFlags are the flags of weft info.
type infoFlags struct {
	n, pretend int
	transport  string
	bindTo     string
	json, env  bool
}

func infoCommand() *ffcli.Command {
	var f infoFlags
	fs := flag.NewFlagSet("weft info", flag.ContinueOnError)
	fs.IntVar(&f.n, "n", 2, "number of ranks")
	fs.IntVar(&f.pretend, "pretend", 1, "pretend that the ranks are on this many hosts, in turn")
	fs.StringVar(&f.transport, "transport", "auto", "auto, shm, eth, udp, tcp or fabric")
	fs.StringVar(&f.bindTo, "bind-to", "part",
		"part: divide the processors of a host among its ranks, if they are enough; core: a core for each; none: do not bind")
	fs.BoolVar(&f.json, "json", false, "print one JSON object for each rank, or with -env for each variable")
	fs.BoolVar(&f.env, "env", false, "print the environment variables that configure programs")
	return &ffcli.Command{
		Name:       "info",
		ShortUsage: "weft info [FLAGS]",
		ShortHelp:  "show how weft runs a job on this machine, and why",
		LongHelp:   infoHelp,
		FlagSet:    fs,
		Exec: func(ctx context.Context, args []string) error {
			switch {
			case len(args) > 0:
				return fmt.Errorf("info: what is %q? It takes no arguments, and flags begin with -", args[0])
			case f.env:
				return printEnvironment(f.json)
			case f.n < 1 || f.n > 256:
				return fmt.Errorf("info: -n %d: must be from 1 to 256", f.n)
			}
			return f.run(ctx)
		},
	}
}

func printEnvironment(asJSON bool) error {
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	defer w.Flush()
	for _, v := range join.Variables {
		if asJSON {
			if err := json.NewEncoder(os.Stdout).Encode(map[string]string{"name": v.Name, "meaning": v.Meaning}); err != nil {
				return err
			}
			continue
		}
		value, set := os.LookupEnv(v.Name)
		if set {
			value = "(now " + value + ")"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\n", v.Name, v.Meaning, value)
	}
	return nil
}

func (f *infoFlags) run(ctx context.Context) error {
	bind, err := launch.ParseBinding(f.bindTo)
	if err != nil {
		return fmt.Errorf("info: %w", err)
	}
	ranks, err := askRanks(ctx, "info", launch.Job{
		N: f.n, Pretend: f.pretend, Transport: f.transport, Bind: bind, Stderr: os.Stderr,
	}, func(r rankInfo) int { return r.Rank })
	if err != nil {
		return err
	}
	if f.json {
		return cli.PrintJSON(ranks)
	}
	f.print(ranks)
	fmt.Println()
	for _, line := range environment.Explain(environment.ThisProcess()) {
		fmt.Println(line)
	}
	return nil
}

func (f *infoFlags) print(ranks []rankInfo) {
	fmt.Println(version())
	fmt.Printf("%d ranks, -transport %s\n", f.n, f.transport)
	fmt.Printf("how a rank waits: %s\n", ranks[0].Waiting)
	fmt.Printf("barriers of all ranks: %s\n\n", ranks[0].Barrier)
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "from\tto\ttransport\tlongest packet\tprotected against\twhy this transport")
	var guards []string
	for _, r := range ranks {
		for _, p := range r.Peers {
			if p.Transport == weft.TransportSelf {
				continue
			}
			fmt.Fprintf(w, "%d (%s)\t%d (%s)\t%s\t%d B\t%s\t%s\n",
				r.Rank, r.Host, p.Rank, p.Host, p.Transport, p.MTU, p.Guards, p.Why)
			guard := fmt.Sprintf("over %s: %s, since %s", p.Transport, p.Guard, p.WhyGuard)
			if p.Guard != "" && !slices.Contains(guards, guard) {
				guards = append(guards, guard)
			}
		}
	}
	w.Flush()
	printTravel(ranks)
	fmt.Println()
	if len(guards) > 0 {
		fmt.Println("protection of packets to other hosts (docs/SECURITY.md):")
		for _, guard := range guards[:min(len(guards), maxGuards)] {
			fmt.Println("  " + guard)
		}
		fmt.Println()
	}
	fmt.Fprintln(w, "rank\tprocessors\tmemory of weft when idle\tmore per peer\tmemory of the process")
	for _, r := range ranks {
		perPeer := (r.Connected - r.Idle) / uint64(max(f.n-1, 1))
		fmt.Fprintf(w, "%d\t%s\t%s\t%s\t%s\n", r.Rank, sys.ListCPUs(r.CPUs), kib(r.Idle), kib(perPeer), kib(r.Process))
	}
	w.Flush()
	fmt.Println("\nA rank keeps nothing for a peer until the first packet to or from it: memory grows with the")
	fmt.Println("number of peers that a rank exchanges packets with, not with the size of the job.")
}

// maxGuards is how many reasons for a guard are printed; -json prints all.
const maxGuards = 8

// maxPairs is how many pairs of ranks are named whose packets take the same kind of path.
const maxPairs = 8

// printTravel prints the paths of packets, each once with the pairs of ranks that it is the same for.
func printTravel(ranks []rankInfo) {
	pairs := map[string][]string{}
	var paths []string
	for _, r := range ranks {
		for _, p := range r.Peers {
			if p.Path == "" {
				continue
			}
			if pairs[p.Path] == nil {
				paths = append(paths, p.Path)
			}
			pairs[p.Path] = append(pairs[p.Path], fmt.Sprintf("%d→%d", r.Rank, p.Rank))
		}
	}
	for _, path := range paths {
		all := pairs[path]
		more := ""
		if n := len(all) - maxPairs; n > 0 {
			all = all[:maxPairs]
			more = fmt.Sprintf(" and %d more", n)
		}
		fmt.Printf("\n%s%s: %s\n", strings.Join(all, " "), more, path)
	}
}

func kib(n uint64) string { return fmt.Sprintf("%.1f KiB", float64(n)/1024) }
