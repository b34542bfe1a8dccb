package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const source = `package x

const limit = 4 - 1

func full(n int) bool {
	if n >= limit && n != 7 {
		return true
	}
	n++
	return false
}
`

// Each operator of a function has its mutants, constants have none, and a change of one place leaves the rest.
func TestMutants(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "x.go"), []byte(source), 0o666); err != nil {
		t.Fatal(err)
	}
	all, err := mutants(dir, "x.go", func(int) bool { return true })
	if err != nil {
		t.Fatal(err)
	}
	got := []string{}
	for _, m := range choose(all, 100) {
		got = append(got, fmt.Sprintf("%d %s", m.line, m.what))
	}
	want := []string{"6 never if n >= limit && n != 7", "6 >= becomes <", "6 >= becomes >", "6 && becomes ||",
		"6 != becomes ==", "9 ++ becomes --"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	for _, m := range all {
		if m.what == "&& becomes ||" {
			if got := string(m.apply([]byte(source))); got != strings.Replace(source, "&&", "||", 1) {
				t.Error(got)
			}
		}
	}
	if some, _ := mutants(dir, "x.go", func(line int) bool { return line == 9 }); len(some) != 1 {
		t.Errorf("%v on line 9", some)
	}
}

// A change elsewhere in the file leaves the choice as it is.
func TestChoiceStays(t *testing.T) {
	dir := t.TempDir()
	chosen := func(text string) string {
		if err := os.WriteFile(filepath.Join(dir, "x.go"), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		all, err := mutants(dir, "x.go", func(int) bool { return true })
		if err != nil {
			t.Fatal(err)
		}
		what := ""
		for _, m := range choose(all, 3) {
			what += m.what + "\n"
		}
		return what
	}
	before := chosen(source)
	if after := chosen(strings.Replace(source, "const", "\n\n// More.\n\nconst", 1)); after != before {
		t.Errorf("%s and then %s", before, after)
	}
}

func TestParseDiff(t *testing.T) {
	got := parseDiff("+++ b/a/x.go\n@@ -3 +4,2 @@ func\n+one\n+two\n@@ -9,2 +10 @@\n+three\n@@ -20,3 +18,0 @@\n")
	if want := "map[a/x.go:map[4:true 5:true 10:true]]"; fmt.Sprint(got) != want {
		t.Errorf("%v, want %s", got, want)
	}
}
