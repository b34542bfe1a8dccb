//go:build linux

package main

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestSimProgram runs a program in the simulator, as a package and as JSON says.
func TestSimProgram(t *testing.T) {
	svg := filepath.Join(t.TempDir(), "load.svg")
	run := func() map[string]any {
		out, stderr, status := runWeft(t, "sim", "-n", "9", "-topology", "torus:3x3", "-loss", "0.01", "-seed", "5",
			"-svg", svg, "-json",
			"../../examples/halo", "-rows", "30", "-cols", "20", "-steps", "10")
		if status != 0 {
			t.Fatal(stderr)
		}
		var r map[string]any
		said, report, _ := strings.Cut(out, "\n")
		if err := json.Unmarshal([]byte(report), &r); err != nil || !strings.Contains(said, "the same as one") {
			t.Fatalf("%v: %s", err, out)
		}
		return r
	}
	a := run()
	b := run()
	if a["hash"] != b["hash"] || a["hash"] == nil {
		t.Errorf("%v, then %v", a["hash"], b["hash"])
	}
	for _, key := range []string{"virtual_s", "messages", "packets", "bytes", "lost", "resent", "utilization_most"} {
		if v, ok := a[key].(float64); !ok || v <= 0 {
			t.Errorf("%s is %v", key, a[key])
		}
	}
	if b, err := os.ReadFile(svg); err != nil || !strings.Contains(string(b), "torus:3x3") {
		t.Errorf("%v: %.100s", err, b)
	}
}

// TestSimReport: the report for people goes to standard error.
func TestSimReport(t *testing.T) {
	out, stderr, status := runWeft(t, "sim", "-n", "3", "../../examples/hello")
	if status != 0 || strings.Count(out, "hello from rank") != 3 || !strings.Contains(stderr, "virtual time") {
		t.Errorf("status %d: %s\n%s", status, out, stderr)
	}
}

// TestSharedVariables: package-level variables that functions change are named.
func TestSharedVariables(t *testing.T) {
	const src = `package main
var counter, limit, list, fixed = 0, 3, []int{1}, 7
var state struct{ n int }
func f() { counter++; local := 1; local = 2; _ = local }
func g() { p := &limit; *p = 2; list[0] = 1 }
func h(fixed int) { fixed = 3; var state int; state = 2; _ = state }
`
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, "x.go", src, 0)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Join(sharedVariables(fset, []*ast.File{f}), "\n")
	for name, want := range map[string]bool{"counter": true, "limit": true, "list": true, "fixed": false,
		"state": false, "local": false} {
		if strings.Contains(lines, "variable "+name+" ") != want {
			t.Errorf("%s: %t, want %t:\n%s", name, !want, want, lines)
		}
	}
}
