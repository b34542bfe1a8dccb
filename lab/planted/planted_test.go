package main

import (
	"slices"
	"strings"
	"testing"
)

// Every bug can be planted in today's source.
func TestBugsApply(t *testing.T) {
	all, err := bugs()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := overlay("../..", t.TempDir(), all); err != nil {
		t.Error(err)
	}
}

// The bugs of a file are independent of each other, and lines that are not changed stay as they are.
func TestApply(t *testing.T) {
	text := "package x\n\nfunc f() {\n\tone()\n\ttwo()\n\tone()\n}\n"
	changes := []change{
		{"A", "f.go", []string{" \tone()", "-\ttwo()", "+\t2()", " \tone()"}},
		{"B", "f.go", []string{" func f() {", "+\tzero()", " \tone()"}},
		{"C", "f.go", []string{" func f() {", "+\tnought()"}},
	}
	got, err := apply(text, changes)
	want := "package x\n\nfunc f() {\n\tzero()\n\tnought()\n\tone()\n\t2()\n\tone()\n}\n"
	if err != nil || got != want {
		t.Errorf("%v, %s", err, got)
	}
	text = strings.Replace(got, "nought()", "planted.On()", 1)
	if got := addImports(text); !strings.HasPrefix(got, "package x; import \"weft/internal/planted\"\n\nfunc") {
		t.Error(got)
	}
}

// A change whose place is not there, or there twice, is refused by the bug's name; so is one of a line that another bug
// has changed.
func TestDoesNotApply(t *testing.T) {
	text := "package x\n\nfunc f() {\n\tone()\n\ttwo()\n\tone()\n}\n"
	for want, changes := range map[string][]change{
		"planted bug A no longer applies to f.go, which has this 0 times": {{"A", "f.go", []string{"-\tthree()"}}},
		"planted bug B no longer applies to f.go, which has this 2 times": {{"B", "f.go", []string{"-\tone()"}}},
		"two planted bugs change the same line of f.go": {
			{"A", "f.go", []string{"-\ttwo()", "+\t2()"}},
			{"B", "f.go", []string{"-\ttwo()"}},
		},
	} {
		if got, err := apply(text, changes); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q, %v; want %s", got, err, want)
		}
	}
}

// A table is read line by line, and an entry that cannot show anything is refused.
func TestTable(t *testing.T) {
	text := `# Bugs.

bug A: it is wrong
found in p q
file f.go
 	one()
-	two()
@@
+	three(planted.On("A"))
file g.go
-x
bug B: so is this
`
	all, err := parse("bugs.txt", text)
	if err != nil || len(all) != 2 || all[0].name != "A" || all[1].name != "B" || !slices.Equal(all[0].foundIn, []string{"p", "q"}) {
		t.Fatalf("%v, %+v", err, all)
	}
	var changes []string
	for _, c := range all[0].changes {
		changes = append(changes, c.bug+" "+c.file+strings.Join(c.lines, "|"))
	}
	want := []string{"A f.go \tone()|-\ttwo()", `A f.go+	three(planted.On("A"))`, "A g.go-x"}
	if !slices.Equal(changes, want) {
		t.Errorf("%q", changes)
	}
	if _, err := parse("bugs.txt", "bug A: x\nfund in p\n"); err == nil || err.Error() != `bugs.txt:2: "fund in p"` {
		t.Error(err)
	}
	asks := []change{{"A", "f.go", []string{`+planted.On("A")`}}}
	for want, some := range map[string][]bug{
		"there are two":      {{"A", []string{"p"}, asks}, {"A", []string{"p"}, asks}},
		"names no package":   {{"A", nil, asks}},
		"changes nothing":    {{"A", []string{"p"}, nil}},
		"planted.On(\"B\") ": {{"B", []string{"p"}, asks}},
	} {
		if err := check(some); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// A bug counts as found when the subtest with its name has passed, in each package that must find it.
func TestReport(t *testing.T) {
	r := newReport([]bug{{name: "A", foundIn: []string{"p", "q"}}, {name: "B", foundIn: []string{"p"}}}, nil)
	if got := r.packages(); !slices.Equal(got, []string{"./p", "./q"}) {
		t.Error(got)
	}
	var out strings.Builder
	err := r.read(strings.NewReader(`
		{"Action":"output","Package":"weft/p","Test":"TestPlanted/A","Output":"seed 3\n"}
		{"Action":"pass","Package":"weft/p","Test":"TestPlanted/A","Elapsed":0.25}
		{"Action":"skip","Package":"weft/q","Test":"TestPlanted/A"}
		{"Action":"output","Package":"weft/p","Test":"TestPlanted/B","Output":"not found\n"}
		{"Action":"fail","Package":"weft/p","Test":"TestPlanted/B"}
		{"Action":"pass","Package":"weft/p","Test":"TestOther"}`), &out)
	if want := "A                found by TestPlanted of p (0.2 s)\nnot found\n"; err != nil || out.String() != want {
		t.Errorf("%v, %q", err, out.String())
	}
	want := "planted bug A is not found by the tests of q\nplanted bug B is not found by the tests of p"
	if err := r.missing(); err == nil || err.Error() != want {
		t.Error(err)
	}
	if r := newReport([]bug{{name: "A", foundIn: []string{"p", "q"}}}, []string{"./q"}); len(r.open) != 1 || r.open[0].pkg != "q" {
		t.Errorf("%+v", r.open)
	}
}
