package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/peterbourgon/ff/v3/ffcli"

	"weft"
	"weft/internal/bootstrap/environment"
	"weft/internal/launch"
)

const infoHelp = `Tells what weft would do on this machine, and why: it starts a job, lets every
rank reach every other, and shows which transport was picked for each pair, what
it guards packets against, how strongly and why (docs/SECURITY.md), how the ranks wait, which
processors each may use, and what memory it holds; and how a program that is started in this environment becomes a rank, and of what job
(docs/LAUNCHERS.md).

EXAMPLES
  weft info
  weft info -n 4 -pretend 2     two pretended hosts: shared memory and UDP
  weft info -n 2 -bind-to core  which core each rank gets
  weft info -n 4 -json
  weft info -env                the environment variables that programs heed`

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
	fs.IntVar(&f.pretend, "pretend", 1, "pretend that the ranks are on so many hosts, in turn")
	fs.StringVar(&f.transport, "transport", "auto", "auto, shm or udp")
	fs.StringVar(&f.bindTo, "bind-to", "none", "core: each rank has a processor core of its own, as with weft run; none")
	fs.BoolVar(&f.json, "json", false, "print one JSON object a line")
	fs.BoolVar(&f.env, "env", false, "print the environment variables that programs heed")
	return &ffcli.Command{
		Name: "info", ShortUsage: "weft info [FLAGS]", ShortHelp: "what weft does on this machine, and why",
		LongHelp: infoHelp, FlagSet: fs,
		Exec: func(ctx context.Context, args []string) error {
			switch {
			case len(args) > 0:
				return fmt.Errorf("info: what is %q? Flags begin with -", args[0])
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
	for _, v := range weft.Environment() {
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
	self, err := os.Executable()
	if err != nil {
		return err
	}
	bind, err := bindTo(f.bindTo)
	if err != nil {
		return fmt.Errorf("info: %w", err)
	}
	var out, report bytes.Buffer
	result, err := launch.Run(ctx, launch.Job{
		BindToCore: bind,
		Program:    self, N: f.n, Pretend: f.pretend, Transport: f.transport,
		Stdout: &out, Stderr: os.Stderr, Report: &report, Env: []string{envInfo + "=1"},
	}, nil)
	if err == nil && result.Status != 0 {
		err = fmt.Errorf("info: %s", strings.TrimSpace(report.String()))
	}
	if err != nil {
		return err
	}
	if f.json {
		_, err = os.Stdout.Write(out.Bytes())
		return err
	}
	ranks := make([]rankInfo, f.n)
	for line := range bytes.Lines(out.Bytes()) {
		var r rankInfo
		if err := json.Unmarshal(line, &r); err != nil || r.Rank >= f.n {
			return fmt.Errorf("info: %q: %w", line, err)
		}
		ranks[r.Rank] = r
	}
	f.print(ranks)
	fmt.Println()
	for _, line := range environment.Explain(environment.ThisProcess()) {
		fmt.Println(line)
	}
	return nil
}

func (f *infoFlags) print(ranks []rankInfo) {
	fmt.Printf("%s\n%d ranks, -transport %s; ranks wait so: %s\nbarriers of all ranks: %s\n\n", version(), f.n, f.transport, ranks[0].Waiting, ranks[0].Barrier)
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "from\tto\ttransport\tpacket\tguarded against\twhy")
	var guards []string
	for _, r := range ranks {
		for _, p := range r.Peers {
			if p.Transport == "self" {
				continue
			}
			fmt.Fprintf(w, "%d (%s)\t%d (%s)\t%s\t%d B\t%s\t%s\n", r.Rank, r.Host, p.Rank, p.Host, p.Transport, p.MTU, p.Guards, p.Why)
			if g := fmt.Sprintf("over %s: %s, since %s", p.Transport, p.Guard, p.WhyGuard); p.Guard != "" && !slices.Contains(guards, g) {
				guards = append(guards, g)
			}
		}
	}
	w.Flush()
	printTravel(ranks)
	fmt.Println()
	if len(guards) > 0 {
		fmt.Printf("packets to other hosts are protected so (docs/SECURITY.md):\n  %s\n\n", strings.Join(guards[:min(len(guards), mostGuards)], "\n  "))
	}
	fmt.Fprintln(w, "rank\tprocessors\tmemory when idle\tper peer\tof the whole process")
	for _, r := range ranks {
		fmt.Fprintf(w, "%d\t%s\t%s\t%s\t%s\n", r.Rank, processors(r.CPUs), kib(r.Idle), kib((r.Connected-r.Idle)/uint64(max(f.n-1, 1))), kib(r.Process))
	}
	w.Flush()
	fmt.Println("\nMemory grows with the ranks spoken to, not with the job: nothing is kept for a rank\nuntil the first packet to or from it.")
}

// mostGuards is how many reasons for a guard are printed; -json has all.
const mostGuards = 8

// mostPairs is how many pairs are named between which packets travel in the same way.
const mostPairs = 8

// printTravel prints how packets travel, once for all pairs of which it is the same.
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
		all, more := pairs[path], ""
		if len(all) > mostPairs {
			all, more = all[:mostPairs], fmt.Sprintf(" and %d more", len(all)-mostPairs)
		}
		fmt.Printf("\n%s%s: %s\n", strings.Join(all, " "), more, path)
	}
}

// processors writes numbers of processors as lists have them: 0-3,8.
func processors(cpus []int) string {
	if len(cpus) == 0 {
		return "unknown"
	}
	var parts []string
	for i := 0; i < len(cpus); {
		last := i
		for last+1 < len(cpus) && cpus[last+1] == cpus[last]+1 {
			last++
		}
		part := strconv.Itoa(cpus[i])
		if last > i {
			part += "-" + strconv.Itoa(cpus[last])
		}
		parts = append(parts, part)
		i = last + 1
	}
	return strings.Join(parts, ",")
}

func kib(n uint64) string { return fmt.Sprintf("%.1f KiB", float64(n)/1024) }
