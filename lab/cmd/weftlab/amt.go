package main

import (
	"context"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/peterbourgon/ff/v3/ffcli"

	"weft/internal/amt"
	"weft/internal/cli"
	"weft/lab/advise"
)

const amtHelp = `Chooses the receive rings of mailboxes from what a job has sent [Kitamura06]. The table of
rings of a rank is its AMT (address management table). A rank that sends often to a mailbox
gets a ring of its own there; all others share one ring. So the receive memory of a rank
grows with the number of its partners and not with the size of the job. Over shared memory
such a sender has a ring of the transport for its packets, too.

Record a trace of a run, let advise choose the rings, and run with them.

A trace is a file for each rank, FILE.0 and so on; that of a simulated job is one
file. For each rank it has a line of JSON that says how many lines follow, and then a
line for each receiver and kind of sending: send, ipush, push, put, pull, atomic, and
collective for all that is part of an operation of all ranks. "largest" is the longest
message in bytes:

  {"trace":1,"rank":0,"size":64,"job":"5f0c","program":"cg","rows":2}
  {"to":1,"kind":"send","messages":450,"bytes":6300000,"largest":14000}
  {"to":32,"kind":"collective","messages":31,"bytes":248,"largest":8}

EXAMPLES
  weft run -n 64 -trace cg.trace ./examples/nas/cg -class S
  weftlab amt advise -budget 256KiB -o cg.amt cg.trace
  weft run -n 64 -amt cg.amt ./examples/nas/cg -class S`

func amtCommand() *ffcli.Command {
	fs := flag.NewFlagSet("weftlab amt", flag.ContinueOnError)
	c := &ffcli.Command{
		Name: "amt", ShortUsage: "weftlab amt COMMAND [FLAGS] …", ShortHelp: "choose receive rings from what a job has sent",
		LongHelp: amtHelp, FlagSet: fs,
		Subcommands: []*ffcli.Command{amtAdviseCommand(), amtTableCommand(), amtChartCommand()},
	}
	c.Exec = func(ctx context.Context, args []string) error {
		if len(args) == 0 || args[0] == "help" {
			return flag.ErrHelp
		}
		return cli.Unknown(args[0], c.Subcommands)
	}
	return c
}

// readTrace reads a trace from files of its parts. A name that is no file's stands
// for the parts that begin with it, NAME.0 and so on.
func readTrace(names []string) (*advise.Trace, error) {
	var parts []amt.Part
	for _, name := range names {
		files := []string{name}
		if _, err := os.Stat(name); err != nil {
			if files = partsOf(name); len(files) == 0 {
				return nil, err
			}
		}
		for _, file := range files {
			p, err := readParts(file)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", file, err)
			}
			parts = append(parts, p...)
		}
	}
	t, err := advise.NewTrace(parts)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", strings.Join(names, " "), err)
	}
	return t, nil
}

func readParts(file string) ([]amt.Part, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return advise.ReadParts(f)
}

// partsOf returns the files that have a rank after the name.
func partsOf(name string) []string {
	dir, base := filepath.Split(name)
	entries, err := os.ReadDir(filepath.Clean(dir + "."))
	if err != nil {
		return nil
	}
	var files []string
	for _, e := range entries {
		rank, ok := strings.CutPrefix(e.Name(), base+".")
		if _, err := strconv.ParseUint(rank, 10, 32); ok && err == nil {
			files = append(files, dir+e.Name())
		}
	}
	slices.Sort(files)
	return files
}

// A size is a flag for bytes, such as 65536 or 64KiB.
type size int

func (s *size) String() string { return bytesText(int(*s)) }

func (s *size) Set(text string) error {
	number := strings.TrimRight(text, "KMGiB")
	unit := 0
	switch text[len(number):] {
	case "", "B":
	case "KiB":
		unit = 10
	case "MiB":
		unit = 20
	case "GiB":
		unit = 30
	default:
		return fmt.Errorf("must be bytes, such as 65536, 64KiB or 1MiB")
	}
	n, err := strconv.Atoi(number)
	if err != nil || n < 1 || n > math.MaxInt>>unit {
		return fmt.Errorf("must be bytes, such as 65536, 64KiB or 1MiB")
	}
	*s = size(n << unit)
	return nil
}

// bytesText writes bytes with a unit.
func bytesText(n int) string {
	v := float64(n)
	for _, unit := range []string{"B", "KiB", "MiB"} {
		if v < 1024 {
			return fmt.Sprintf("%.4g %s", v, unit)
		}
		v /= 1024
	}
	return fmt.Sprintf("%.4g GiB", v)
}
