//go:build linux

package main

import (
	"encoding/json"
	"strings"
	"testing"

	"weft/internal/programtest"
)

// TestSimProgram runs a program in the simulator, as a package and as a file, and the same seed does the same.
func TestSimProgram(t *testing.T) {
	run := func(halo string) map[string]any {
		out, stderr, status := runWeft(t, "sim", "-n", "9", "-topology", "torus:3x3", "-loss", "0.01", "-seed", "5",
			"-json", halo, "-rows", "30", "-cols", "20", "-steps", "10")
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
	a := run("../../examples/halo")
	b := run(programtest.Make(t, t.TempDir(), "weft/examples/halo"))
	if a["hash"] != b["hash"] || a["hash"] == nil {
		t.Errorf("%v, then %v", a["hash"], b["hash"])
	}
	for _, key := range []string{"virtual_s", "messages", "packets", "bytes", "lost", "resent", "utilization_most"} {
		if v, ok := a[key].(float64); !ok || v <= 0 {
			t.Errorf("%s is %v", key, a[key])
		}
	}
}

// TestSimFaults: faults of the command line happen, and the report for people goes to standard error; a fault that
// cannot be is refused before the program runs.
func TestSimFaults(t *testing.T) {
	hello := programtest.Make(t, t.TempDir(), "weft/examples/hello")
	out, stderr, status := runWeft(t, "sim", "-n", "3", "-fault", "pause 1 at 1us for 7s", hello)
	if status != 0 || strings.Count(out, "hello from rank") != 3 || !strings.Contains(stderr, "virtual time      7") {
		t.Errorf("status %d: %s\n%s", status, out, stderr)
	}
	for text, why := range map[string]string{"pause 1": "For must be greater", "explode 1": `no fault "explode"`} {
		if _, stderr, status := runWeft(t, "sim", "-n", "3", "-fault", text, hello); status == 0 ||
			!strings.Contains(stderr, why) {
			t.Errorf("%q: status %d: %s", text, status, stderr)
		}
	}
}
