package weft_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"slices"
	"strings"
	"testing"
)

// clocksAllowed lists the files of tests that look at a real clock, and why. None of them decides a test by it.
var clocksAllowed = map[string]string{
	"internal/waittest/waittest.go":                                     "waits for all tests, and ends a hang",
	"internal/handshake/acceptor_test.go":                               "its slow network is in a bubble of synctest",
	"internal/launch/grace_test.go":                                     "its ranks are in a bubble of synctest",
	"internal/engine/bench_test.go":                                     "a benchmark: it measures, and refuses nothing",
	"lab/inside/testdata/internal/transport/eth/segments_linux_test.go": "a benchmark",
	"internal/doctor/measure_test.go":                                   "gives each rank a clock of its own",
	"internal/transport/shm/memory_linux_test.go":                       "waits for deadlines to pass",
	"lab/inside/testdata/networks_hosts_test.go":                        "changes a network now and then",
	"stream/network_sim_test.go":                                        "a deadline in virtual time is a time.Time",
}

// clock lists the functions of package time that read a clock or wait.
var clock = map[string]bool{
	"Now": true, "Since": true, "Until": true, "Sleep": true, "After": true, "AfterFunc": true, "NewTimer": true,
	"NewTicker": true, "Tick": true,
}

// No test waits for a time to pass or looks at how long something took, since a loaded machine is slow. It may in a
// bubble of testing/synctest, and in the simulator by Proc's clock. Package waittest waits for what nothing tells of.
func TestPolicyClocks(t *testing.T) {
	unused := maps.Clone(clocksAllowed)
	goFiles(t, func(name string, text []byte) {
		if !ofTests(name) {
			return
		}
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, name, text, parser.SkipObjectResolution)
		if err != nil {
			t.Error(err)
			return
		}
		found := readsClock(file)
		if len(found) > 0 && clocksAllowed[name] != "" {
			delete(unused, name)
			return
		}
		for _, at := range found {
			t.Errorf("%v: a test looks at the clock: wait for an event (internal/waittest), or run it in virtual time",
				fset.Position(at))
		}
	})
	for _, name := range slices.Sorted(maps.Keys(unused)) {
		t.Errorf("%s is allowed to look at the clock, and does not", name)
	}
}

// ofTests reports whether a file is linked into tests alone.
func ofTests(name string) bool {
	dir := name[:strings.LastIndex(name, "/")+1]
	return strings.HasSuffix(name, "_test.go") || strings.HasSuffix(dir, "test/")
}

// readsClock returns where a file calls a function of clock outside a bubble of testing/synctest.
func readsClock(file *ast.File) (found []token.Pos) {
	ast.Inspect(file, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		f, ok := call.Fun.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		pkg, ok := f.X.(*ast.Ident)
		switch {
		case ok && pkg.Name == "synctest" && f.Sel.Name == "Test":
			return false
		case ok && pkg.Name == "time" && clock[f.Sel.Name]:
			found = append(found, call.Pos())
		}
		return true
	})
	return found
}
