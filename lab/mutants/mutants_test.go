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

// Each operator of a function has its mutants, and constants have none.
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
	for _, m := range choose(all, 100, 0) {
		got = append(got, fmt.Sprintf("%d %s", m.line, m.what))
	}
	want := []string{"6 never if n >= limit && n != 7", "6 >= becomes <", "6 >= becomes >", "6 && becomes ||",
		"6 != becomes ==", "9 ++ becomes --"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if some, _ := mutants(dir, "x.go", func(line int) bool { return line == 9 }); len(some) != 1 {
		t.Errorf("%v on line 9", some)
	}
}

// A change elsewhere in the file leaves the choice as it is, and another seed chooses others.
func TestChoiceStays(t *testing.T) {
	dir := t.TempDir()
	chosen := func(text string, seed uint64) string {
		if err := os.WriteFile(filepath.Join(dir, "x.go"), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		all, err := mutants(dir, "x.go", func(int) bool { return true })
		if err != nil {
			t.Fatal(err)
		}
		what := ""
		for _, m := range choose(all, 3, seed) {
			what += m.what + "\n"
		}
		return what
	}
	before := chosen(source, 1)
	if after := chosen(strings.Replace(source, "const", "\n\n// More.\n\nconst", 1), 1); after != before {
		t.Errorf("%s and then %s", before, after)
	}
	if other := chosen(source, 2); other == before {
		t.Errorf("both seeds choose %s", other)
	}
}

func TestParseDiff(t *testing.T) {
	got := parseDiff("+++ b/a/x.go\n@@ -3 +4,2 @@ func\n+one\n+two\n@@ -9,2 +10 @@\n+three\n@@ -20,3 +18,0 @@\n")
	if want := "map[a/x.go:map[4:true 5:true 10:true]]"; fmt.Sprint(got) != want {
		t.Errorf("%v, want %s", got, want)
	}
}

// A function has a copy for each of its mutants, which it calls if the environment chooses it, and stays on its lines.
// Receivers and parameters without names get some.
func TestEmbed(t *testing.T) {
	dir := t.TempDir()
	const text = "package x\n\nfunc (T[K]) f(_ int, xs ...K) bool { return 1 < 2 }\n\nfunc g[K any](K) { for 1 == 2 {\n} }\n"
	if err := os.WriteFile(filepath.Join(dir, "x.go"), []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	all, err := mutants(dir, "x.go", func(int) bool { return true })
	if err != nil {
		t.Fatal(err)
	}
	got, begins, err := embed(dir, "x.go", choose(all, 3, 0), 7)
	want := `package x

func (unnamed1 T[K]) f(unnamed2 int, xs ...K) bool { if isMutant(7) { return unnamed1.fMutant7(unnamed2, xs...) }; ` +
		` if isMutant(8) { return unnamed1.fMutant8(unnamed2, xs...) };  return 1 < 2 }

func g[K any](unnamed1 K) { if isMutant(9) { gMutant9[K](unnamed1); return };  for 1 == 2 {
} }

func (unnamed1 T[K]) fMutant7(unnamed2 int, xs ...K) bool { return 1 <= 2 }
func (unnamed1 T[K]) fMutant8(unnamed2 int, xs ...K) bool { return 1 >= 2 }
func gMutant9[K any](unnamed1 K) { for 1 != 2 {
} }
`
	if err != nil || got != want || !slices.Equal(begins, []int{8, 9, 10}) {
		t.Errorf("%v, %v:\n%s", err, begins, got)
	}
	bad := broken("a/x.go:11:3: no\nx.go:9:1: no\n", map[string][]int{"x.go": begins}, map[string]int{"x.go": 7})
	if fmt.Sprint(bad) != "map[8:true 9:true]" {
		t.Error(bad)
	}
}
