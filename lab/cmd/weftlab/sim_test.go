//go:build linux

package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"weft/internal/sim"
)

// TestSimSeed replays a run: its plan, what came of it, and a log.
func TestSimSeed(t *testing.T) {
	log := filepath.Join(t.TempDir(), "log")
	out, stderr, status := weftlab(t, "sim", "-seed", "1", "-only", "lock", "-log", log)
	again, _, _ := weftlab(t, "sim", "-seed", "1", "-only", "lock")
	if status != 0 || out != again || !strings.Contains(out, "seed 1: 5 ranks") || !strings.Contains(out, "hash 0x") {
		t.Errorf("status %d, %s\n%s\n%s", status, stderr, out, again)
	}
	if b, err := os.ReadFile(log); err != nil || !strings.Contains(string(b), "arrives") {
		t.Errorf("%v: %.200s", err, b)
	}
	out, stderr, status = weftlab(t, "sim", "-seeds", "5", "-seed", "7", "-only", "lock", "-json")
	var r map[string]any
	if err := json.Unmarshal([]byte(out), &r); err != nil || status != 0 || r["seeds"] != 5.0 {
		t.Errorf("status %d, %v: %s%s", status, err, out, stderr)
	}
}

func TestSimPaper(t *testing.T) {
	out, _, status := weftlab(t, "sim", "paper", "-table", "dimmnet")
	if status != 0 || !strings.Contains(out, "residual") || !strings.Contains(out, "by construction") ||
		strings.Contains(out, "Pentium") {
		t.Errorf("status %d: %s", status, out)
	}
	out, _, status = weftlab(t, "sim", "paper", "-json")
	for line := range strings.Lines(out) {
		var r map[string]any
		if err := json.Unmarshal([]byte(line), &r); err != nil || r["kind"] == nil || r["model"] == nil {
			t.Errorf("%v: %s", err, line)
		}
	}
	if status != 0 {
		t.Error(status)
	}
	svg := filepath.Join(t.TempDir(), "lanai.svg")
	out, stderr, status := weftlab(t, "sim", "paper", "-table", "lanai", "-svg", svg)
	if b, err := os.ReadFile(svg); err != nil || status != 0 || !strings.Contains(string(b), "figure 6") ||
		!strings.Contains(out, "predicted") {
		t.Errorf("status %d, %v: %s%s", status, err, out, stderr)
	}
	_, stderr, status = weftlab(t, "sim", "paper", "-table", "pmethernet", "-svg", svg)
	if b, err := os.ReadFile(svg); err != nil || status != 0 || strings.Count(string(b), "hardware interrupt: 5.90") != 2 {
		t.Errorf("status %d, %v: %s", status, err, stderr)
	}
	_, stderr, status = weftlab(t, "sim", "paper", "-table", "rhinet", "-svg", svg) // which has no paths, and no charts
	if b, err := os.ReadFile(svg); err != nil || status != 0 || !strings.Contains(string(b), "barrier of 64: 100.08") {
		t.Errorf("status %d, %v: %s", status, err, stderr)
	}
}

// TestSimMap finds a network, writes it down, lets links of it fail, and runs a program
// on what was written down.
func TestSimMap(t *testing.T) {
	svg := filepath.Join(t.TempDir(), "map.svg")
	links := filepath.Join(t.TempDir(), "found.links")
	out, stderr, status := weftlab(t, "sim", "map", "-n", "40", "-topology", "switch-random:8:3", "-from", "h7",
		"-fail", "2", "-svg", svg, "-json")
	var r mapResult
	if err := json.Unmarshal([]byte(out), &r); err != nil || status != 0 {
		t.Fatalf("status %d, %v: %s%s", status, err, out, stderr)
	}
	if !r.Map.Same || r.Map.Hosts != 40 || r.Map.Links != r.Links || r.Routes.Cycle != 0 || r.Routes.Pairs != 40*39 ||
		r.Routes.Stretch < 1 {
		t.Errorf("%+v", r)
	}
	if f := r.Failed; f == nil || !f.Right || len(f.Found) != 2 || f.Lost == 0 || f.Other+f.CutOff == 0 ||
		f.Routes.Cycle != 0 {
		t.Errorf("%+v", r.Failed)
	}
	if b, err := os.ReadFile(svg); err != nil || strings.Count(string(b), "<circle") != 40 || strings.Count(string(b),
		": down") != 4 {
		t.Errorf("%v: %.200s", err, b)
	}
	out, stderr, status = weftlab(t, "sim", "map", "-topology",
		"file:../../switches/fabric/testdata/paper003.links", "-fail", "a:6", "-o", links)
	if status != 0 || !strings.Contains(out, "it is the network") || !strings.Contains(out, "no cycle") ||
		!strings.Contains(out, "failed   a:6 – c:4") {
		t.Errorf("status %d: %s%s", status, out, stderr)
	}
	out, _, status = weftlab(t, "sim", "map", "-n", "9", "-topology", "switch-ring:4", "-fail", "h0")
	if status != 0 || !strings.Contains(out, "the mapper's own link") || strings.Contains(out, "then ") {
		t.Errorf("status %d: %s", status, out)
	}
	if top, err := sim.ParseTopology("file:"+links, 12, sim.Wire{}); err != nil || top.Machines() < 12 {
		t.Errorf("the network that was written: %v", err)
	}
}
