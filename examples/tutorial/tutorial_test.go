//go:build linux

// Package tutorial_test runs the programs of docs/TUTORIAL.md, and compares them and what
// they print with what the document shows.
package tutorial_test

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"weft/internal/programtest"
	"weft/job"
)

const document = "../../docs/TUTORIAL.md"

func TestMain(m *testing.M) {
	job.Main(nil)
	os.Exit(m.Run())
}

// blocks returns the fenced blocks of a language in a document.
func blocks(t *testing.T, name, language string) []string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	fence := regexp.MustCompile("(?ms)^```" + language + "\n(.*?)^```$")
	var found []string
	for _, match := range fence.FindAllSubmatch(text, -1) {
		found = append(found, string(match[1]))
	}
	return found
}

// shown returns what the document shows of the output of a command that contains words,
// line by line and sorted: ranks print in any order.
func shown(t *testing.T, words string) []string {
	t.Helper()
	for _, block := range blocks(t, document, "text") {
		command, output, _ := strings.Cut(block, "\n")
		if strings.HasPrefix(command, "$ ") && strings.Contains(command, words) {
			return lines(output)
		}
	}
	t.Fatalf("%s shows no output of a command with %q", document, words)
	return nil
}

var labNumber = regexp.MustCompile(`weft-lab-\d+-`)

// lines splits output and sorts it. What differs from run to run is left out: the number in
// the names of a lab's hosts, and which of the ranks that wait gets the lock of a dead one.
func lines(output string) []string {
	all := strings.Split(strings.TrimSpace(output), "\n")
	for i, line := range all {
		all[i] = labNumber.ReplaceAllString(line, "weft-lab-")
		if _, heir, ok := strings.Cut(line, " has the pen "); ok {
			all[i] = "a rank has the pen " + heir
		}
	}
	slices.Sort(all)
	return all
}

// Every Go block of the tutorial and of README is a part of a program that is run here,
// and every declaration of these programs is shown.
func TestDocumentQuotesPrograms(t *testing.T) {
	files, err := filepath.Glob("*/*.go")
	if err != nil || len(files) != 6 {
		t.Fatalf("%v: %v", files, err)
	}
	quotes := blocks(t, document, "go")
	programs := map[string]string{}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		programs[name] = string(text)
		for _, declaration := range declarations(t, name, text) {
			isShown := func(quote string) bool { return strings.Contains(quote, declaration) }
			if !slices.ContainsFunc(quotes, isShown) {
				t.Errorf("%s does not show this part of %s:\n%s", document, name, declaration)
			}
		}
	}
	for _, quote := range quotes {
		isRun := false
		for _, program := range programs {
			isRun = isRun || strings.Contains(program, quote)
		}
		if !isRun {
			t.Errorf("%s shows Go that is no part of a program here:\n%s", document, quote)
		}
	}
	if front := blocks(t, "../../README.md", "go"); !strings.Contains(programs["step1/main.go"], front[0]) {
		t.Errorf("the first program of README.md is not that of step 1:\n%s", front[0])
	}
}

// declarations returns the functions, variables and constants of a file as text.
func declarations(t *testing.T, name string, text []byte) []string {
	t.Helper()
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, name, text, 0)
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, d := range file.Decls {
		if g, ok := d.(*ast.GenDecl); ok && g.Tok == token.IMPORT {
			continue
		}
		found = append(found, string(text[set.Position(d.Pos()).Offset:set.Position(d.End()).Offset]))
	}
	return found
}

// Steps 1 to 3 are jobs of processes on this machine.
func TestLocalSteps(t *testing.T) {
	for _, step := range []string{"step1", "step2", "step3"} {
		t.Run(step, func(t *testing.T) {
			j, err := job.Start(t.Context(), job.Config{Ranks: 4, Program: "./" + step})
			if err != nil {
				t.Fatal(err)
			}
			defer j.Close()
			if err := j.Wait(t.Context()); err != nil {
				t.Fatal(err)
			}
			var out strings.Builder
			for rank := range 4 {
				out.WriteString(j.Output(rank))
			}
			got := lines(out.String())
			want := shown(t, "tutorial/"+step)
			if !slices.Equal(got, want) {
				t.Errorf("%s prints %q\nthe tutorial shows %q", step, got, want)
			}
		})
	}
}

// Step 4 is a job on simulated machines, one of which crashes.
func TestSimulatedStep(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), "go", "run", "./step4").CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	got := lines(string(out))
	want := shown(t, "tutorial/step4")
	if !slices.Equal(got, want) {
		t.Errorf("step 4 prints %q\nthe tutorial shows %q", got, want)
	}
}

// Step 5 is a job on two hosts, which weftlab lab makes, and rank 2 of it is killed.
func TestLabStep(t *testing.T) {
	if os.Getenv("WEFT_HOSTS") == "" || os.Getuid() != 0 {
		t.Skip("weftlab lab makes hosts from network namespaces: set WEFT_HOSTS=1, as root")
	}
	dir := t.TempDir()
	programtest.Make(t, dir, "weft/cmd/weft")
	weftlab := programtest.Make(t, dir, "weft/lab/cmd/weftlab")
	var out, errs bytes.Buffer
	lab := exec.CommandContext(t.Context(), weftlab,
		"lab", "-hosts", "2", "--", "weft", "run", "-n", "4", "-survive", "./step5")
	lab.Stdout = &out
	lab.Stderr = &errs
	if err := lab.Run(); err != nil {
		if strings.Contains(errs.String(), "operation not permitted") {
			t.Skipf("this container's root cannot make network namespaces: %s", &errs)
		}
		t.Fatalf("%v: %s%s", err, &out, &errs)
	}
	got := lines(out.String())
	want := shown(t, "tutorial/step5")
	if !slices.Equal(got, want) {
		t.Errorf("step 5 prints %q\nthe tutorial shows %q\nand on standard error:\n%s", got, want, &errs)
	}
}
