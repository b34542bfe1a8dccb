package main

import (
	"context"
	"flag"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/peterbourgon/ff/v3/ffcli"

	"weft/internal/cli"
	"weft/lab/perf"
)

// A perfTest is a sub-command of weftlab perf: a row of the table perfTests.
type perfTest struct {
	name, short, help string

	// flags are words KEY or KEY=DEFAULT, where KEY is a row of perfSettings.flags.
	flags string

	// of are the words that a flag may have, by KEY, and from the least and the greatest number where they are not those
	// of the flag's row.
	of   map[string][]string
	from map[string][2]int

	run func(ctx context.Context, s *perfSettings) error
}

// perfSettings are the values of all flags that a measurement can have.
type perfSettings struct {
	spec     perf.Spec
	systems  []perf.System // those of peers
	tcp, svg string
	traces   []string
	flows    int
	seed     uint64
	json     bool

	ranks                                    []int
	ops, algorithms, transports, ways, peers []string
}

// A perfFlag is a flag that measurements can have.
type perfFlag struct {
	key, name   string // in the rows of perfTests, and on the command line
	to          any    // pointer to where its value goes
	usage       string
	least, most int // of numbers; both 0: any
}

// flags are all flags of measurements.
func (s *perfSettings) flags() []perfFlag {
	const many = 1 << 30
	p := &s.spec
	return []perfFlag{
		{"transport", "transport", &p.Transport, "how ranks reach each other", 0, 0},
		{"transports", "transport", &s.transports, "how ranks reach each other, with commas", 0, 0},
		{"op", "op", &p.Op, "what to measure", 0, 0},
		{"ops", "op", &s.ops, "what to measure, with commas", 0, 0},
		{"way", "way", &s.ways, "what to measure, with commas", 0, 0},
		{"algorithm", "algorithm", &s.algorithms, "algorithms, with commas, or all", 0, 0},
		{"figure", "figure", &p.Figure, "which figure", 0, 0},
		{"size", "size", &p.Sizes, "sizes in bytes, with commas", 0, many},
		{"vs", "vs", &s.peers, "peers to measure in the same run, with commas", 0, 0},
		{"n", "n", &p.N, "ranks", 2, 256},
		{"ns", "n", &s.ranks, "numbers of ranks, with commas", 1, 1024},
		{"rounds", "rounds", &p.Rounds, "rounds", 1, math.MaxInt},
		{"exchanges", "exchanges", &p.Exchanges, "rounds of messages", 1, math.MaxInt},
		{"inplace", "inplace", &p.InPlace, "write and read messages in place", 0, 0},
		{"alloc", "alloc", &p.Alloc, "messages from and to memory from Alloc", 0, 0},
		{"blocked", "blocked", &p.Blocked, "no polling: both sides sleep when a message comes", 0, 0},
		{"interrupt", "interrupt", &p.Interrupted,
			"the receiver polls its memory; a sleeping goroutine, woken by the interrupt, brings the packets", 0, 0},
		{"goroutines", "goroutines", &p.Goroutines, "clients in rank 0, each a goroutine; with -pattern", 0, 0},
		{"pattern", "pattern", &p.Pattern, "how goroutines share messages", 0, 0},
		{"beside", "beside", &p.Bulk,
			"bytes of long messages that rank 0 sends to rank 1 meanwhile, one after the other; 0 for none", 0, many},
		{"tcp", "tcp", &s.tcp, "by which algorithm of the kernel TCP controls congestion: cubic, bbr, reno", 0, 0},
		{"flows", "flows", &s.flows, "TCP connections", 1, 64},
		{"for", "for", &p.For, "how long each measurement takes", 0, 0},
		{"seed", "seed", &s.seed, "the first seed", 0, 0},
		{"trace", "trace", &s.traces, "replay these traces of weft run -trace, with commas, and no NAS programs", 0, 0},
		{"svg", "svg", &s.svg, "draw the figures into this file", 0, 0},
		{"json", "json", &s.json, "print one JSON object a line", 0, 0},
	}
}

// command makes the sub-command.
func (t perfTest) command() *ffcli.Command {
	fs := flag.NewFlagSet("weftlab perf "+t.name, flag.ContinueOnError)
	s := &perfSettings{spec: perf.Spec{Test: t.name}}
	all := s.flags()
	var own []perfFlag
	for _, word := range strings.Fields(t.flags) {
		key, value, _ := strings.Cut(word, "=")
		f := all[slices.IndexFunc(all, func(f perfFlag) bool { return f.key == key })]
		if bounds, ok := t.from[key]; ok {
			f.least = bounds[0]
			f.most = bounds[1]
		}
		f.declare(fs, value, t.of[key])
		own = append(own, f)
	}
	return &ffcli.Command{
		Name: t.name, ShortUsage: "weftlab perf " + t.name + " [FLAGS]", ShortHelp: t.short, LongHelp: t.help, FlagSet: fs,
		Exec: func(ctx context.Context, args []string) error {
			defer perf.Cleanup()
			if len(args) > 0 {
				return cli.Unexpected("perf "+t.name, args[0])
			}
			for _, f := range own {
				if wrong := f.check(t.of[f.key]); wrong != "" {
					return fmt.Errorf("perf %s: -%s %s", t.name, f.name, wrong)
				}
			}
			for _, name := range s.peers {
				s.systems = append(s.systems, perf.Find(name))
			}
			return t.run(ctx, s)
		},
	}
}

// declare adds the flag to a set, with its default as text and the words that it may have.
func (f *perfFlag) declare(fs *flag.FlagSet, value string, of []string) {
	usage := f.usage
	if len(of) > 0 {
		usage += ": " + strings.Join(of, ", ")
	}
	switch to := f.to.(type) {
	case *int:
		fs.IntVar(to, f.name, 0, usage)
	case *uint64:
		fs.Uint64Var(to, f.name, 0, usage)
	case *bool:
		fs.BoolVar(to, f.name, false, usage)
	case *string:
		fs.StringVar(to, f.name, "", usage)
	case *time.Duration:
		fs.DurationVar(to, f.name, 0, usage)
	case *[]string:
		fs.Var((*wordList)(to), f.name, usage)
	case *[]int:
		fs.Var((*numberList)(to), f.name, usage)
	}
	if value == "" {
		return
	}
	if err := fs.Set(f.name, value); err != nil {
		panic("weftlab: the default of -" + f.name + ": " + err.Error())
	}
	fs.Lookup(f.name).DefValue = value
}

// check says what is wrong with the flag's value, if anything.
func (f *perfFlag) check(of []string) (wrong string) {
	var texts []string
	var numbers []int
	most := strconv.Itoa(f.most)
	must := "must be a number from"
	switch to := f.to.(type) {
	case *string:
		texts = words(*to)
	case *[]string:
		texts = *to
	case *int:
		numbers = []int{*to}
	case *[]int:
		numbers = *to
		must = "must be numbers from"
	}
	for _, word := range texts {
		if of != nil && !slices.Contains(of, word) {
			return fmt.Sprintf("%q: there are %s", word, strings.Join(of, ", "))
		}
	}
	for _, n := range numbers {
		switch {
		case f.most == math.MaxInt && n < f.least:
			return fmt.Sprintf("%d: must be at least %d", n, f.least)
		case f.most > 0 && (n < f.least || n > f.most):
			return fmt.Sprintf("%d: %s %d to %s", n, must, f.least, most)
		}
	}
	return ""
}

// words splits a text at commas and spaces.
func words(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ' ' })
}

// A wordList is a flag for words with commas between them.
type wordList []string

func (l *wordList) String() string { return strings.Join(*l, ",") }

func (l *wordList) Set(text string) error {
	*l = words(text)
	return nil
}

// A numberList is a flag for numbers with commas between them.
type numberList []int

func (l *numberList) String() string {
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(*l), " ", ","), "[]")
}

func (l *numberList) Set(text string) error {
	*l = nil
	for _, word := range words(text) {
		n, err := strconv.Atoi(word)
		if err != nil {
			return fmt.Errorf("must be numbers, with commas")
		}
		*l = append(*l, n)
	}
	return nil
}

// report prints what was measured, as JSON or as a table, and draws it where -svg asks for that.
func report[T any](s *perfSettings, rows []T, table func(rows []T), draw func(rows []T, file string) error) error {
	progressEnds()
	if s.json {
		if err := cli.PrintJSON(rows); err != nil {
			return err
		}
	} else {
		table(rows)
	}
	if s.svg != "" {
		return draw(rows, s.svg)
	}
	return nil
}
