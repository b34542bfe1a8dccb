package main

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/peterbourgon/ff/v3/ffcli"

	"weft/lab/perf"
)

// performance is the document whose commands are checked.
const performance = "../../../docs/PERFORMANCE.md"

// documentedCommand finds a command in the document: inline code, or a line of an indented block.
var documentedCommand = regexp.MustCompile("(?m)`((?:go|weftlab|cd) [^`]+)`|^    ((?:go|weftlab|for) .*)$")

// TestPerformanceCommands: the commands that docs/PERFORMANCE.md names exist, with their flags, and name targets,
// programs, tests and benchmarks that exist. Nothing is measured.
func TestPerformanceCommands(t *testing.T) {
	text, err := os.ReadFile(performance)
	if err != nil {
		t.Fatal(err)
	}
	found := documentedCommand.FindAllStringSubmatch(string(text), -1)
	if len(found) < 10 {
		t.Fatalf("only %d commands", len(found))
	}
	for _, m := range found {
		line := strings.ReplaceAll(m[1]+m[2], "go run ./lab/cmd/weftlab ", "weftlab ")
		switch words := strings.Fields(line); words[0] {
		case "weftlab":
			checkCommand(t, line, performanceCommands(), words[1:])
		case "go":
			checkGo(t, line, words[1:])
		default:
			checkShell(t, line, words)
		}
	}
}

// performanceCommands is the commands of weftlab that documents name.
func performanceCommands() *ffcli.Command {
	return &ffcli.Command{
		Name:    "weftlab",
		FlagSet: flag.NewFlagSet("weftlab", flag.ContinueOnError),
		Subcommands: []*ffcli.Command{
			labCommand(), perfCommand(), targetsCommand(), compareCommand(), stressCommand(), simCommand(), amtCommand(),
		},
	}
}

// checkCommand follows the words of a command from one of its subcommands to the next.
func checkCommand(t *testing.T, line string, c *ffcli.Command, words []string) {
	for len(words) > 0 {
		word := words[0]
		words = words[1:]
		name, value, joined := strings.Cut(strings.TrimLeft(word, "-"), "=")
		switch {
		case word == "--": // weftlab lab runs another command
			if words[0] != "weftlab" {
				return
			}
			c = performanceCommands()
			words = words[1:]
		case strings.HasPrefix(word, "-"):
			f := c.FlagSet.Lookup(name)
			if f == nil {
				t.Errorf("%s: there is no flag -%s", line, name)
				return
			}
			if b, ok := f.Value.(interface{ IsBoolFlag() bool }); !joined && !(ok && b.IsBoolFlag()) && len(words) > 0 {
				value = words[0]
				words = words[1:]
			}
			if name == "only" && c.Name == "targets" {
				checkTargets(t, line, value)
			}
		case strings.HasPrefix(word, "./examples/"): // a program, and its own flags
			checkDirectory(t, line, word)
			return
		default:
			i := slices.IndexFunc(c.Subcommands, func(s *ffcli.Command) bool { return s.Name == word })
			if i < 0 {
				t.Errorf("%s: %s has no command %q", line, c.Name, word)
				return
			}
			c = c.Subcommands[i]
		}
	}
}

// checkTargets looks for targets both on one host and in a lab.
func checkTargets(t *testing.T, line, names string) {
	all := perf.AllTargets()
	for _, name := range strings.Split(names, ",") {
		if !slices.ContainsFunc(all, func(target perf.Target) bool { return target.Name == name }) {
			t.Errorf("%s: there is no target %q", line, name)
		}
	}
}

// TestPerformanceRows: the rows of both tables are those that targets -write writes, in this order and with these
// limits, whatever the figures.
func TestPerformanceRows(t *testing.T) {
	text, err := os.ReadFile(performance)
	if err != nil {
		t.Fatal(err)
	}
	row := regexp.MustCompile("(?m)^\\| ([^|]*) \\| (`[a-z0-9]+`) \\|(?:[^|]*\\|){3} ([^|]*) \\| (?:yes|\\*\\*no\\*\\*) \\|$")
	var have []string
	for _, m := range row.FindAllStringSubmatch(string(text), -1) {
		have = append(have, strings.Join(m[1:], " | "))
	}
	want := perf.AllTargets()
	for i := range max(len(have), len(want)) {
		if i >= len(have) || i >= len(want) {
			t.Fatalf("%d rows, %d targets", len(have), len(want))
		}
		o := perf.Outcome{Limit: want[i].Limit, AtLeast: want[i].AtLeast, Unit: want[i].Unit()}
		o.Results = make([]perf.Result, 1+len(want[i].Against))
		if line := want[i].What + " | `" + want[i].Name + "` | " + targetBound(&o); line != have[i] {
			t.Errorf("row %d is %q, want %q", i+1, have[i], line)
		}
	}
}

// TestPerformanceTargets: the tables name all targets, and no others.
func TestPerformanceTargets(t *testing.T) {
	text, err := os.ReadFile(performance)
	if err != nil {
		t.Fatal(err)
	}
	for _, target := range perf.AllTargets() {
		if !strings.Contains(string(text), "`"+target.Name+"`") {
			t.Errorf("the target %s stands in no table", target.Name)
		}
	}
	row := regexp.MustCompile("(?m)^\\|[^|]*\\| ((?:`[a-z0-9]+`(?:, )?)+) \\|")
	for _, m := range row.FindAllStringSubmatch(string(text), -1) {
		checkTargets(t, m[0], strings.ReplaceAll(strings.ReplaceAll(m[1], "`", ""), ", ", ","))
	}
}

// checkGo checks that a test or benchmark of go test exists.
func checkGo(t *testing.T, line string, words []string) {
	if words[0] != "test" {
		t.Errorf("%s: only go test is known", line)
		return
	}
	dir := "."
	kind := "Test"
	pattern := "."
	for i, word := range words {
		switch {
		case word == "-run":
			pattern = words[i+1]
		case word == "-bench":
			kind = "Benchmark"
			pattern = words[i+1]
		case strings.HasPrefix(word, "./"):
			dir = word
		}
	}
	checkDirectory(t, line, dir)
	named := regexp.MustCompile(strings.Trim(pattern, `"`))
	files, err := filepath.Glob(filepath.Join("../../..", dir, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	function := regexp.MustCompile(`(?m)^func (` + kind + `\w+)\(`)
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range function.FindAllStringSubmatch(string(text), -1) {
			if named.MatchString(m[1]) {
				return
			}
		}
	}
	t.Errorf("%s: %s has no %s that matches %s", line, dir, kind, pattern)
}

// checkShell checks the few commands with more than one step.
func checkShell(t *testing.T, line string, words []string) {
	if words[0] == "cd" {
		checkDirectory(t, line, words[1])
		checkDirectory(t, line, filepath.Join(words[1], words[len(words)-1]))
		return
	}
}

func checkDirectory(t *testing.T, line, dir string) {
	if info, err := os.Stat(filepath.Join("../../..", dir)); err != nil || !info.IsDir() {
		t.Errorf("%s: there is no directory %s", line, dir)
	}
}
