package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"strings"
	"testing"
	"weft/internal/doctor"
)

// TestDoctorFindsLimits: too few descriptors would stop a job.
func TestDoctorFindsLimits(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("sh", "-c", `ulimit -n 200 && exec "$0" doctor`, self)
	cmd.Env = append(os.Environ(), envCommand+"=1")
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState.ExitCode() != 1 || !strings.Contains(string(out), "would stop a job:\n") ||
		!strings.Contains(string(out), "a process may have only 200 descriptors\n      → raise the limit: ulimit") {
		t.Errorf("%v: %s", err, out)
	}
}

// TestDoctorAsRanks: ranks of a job that somebody else has started are examined, and rank 0
// tells of all.
func TestDoctorAsRanks(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	out, stderr, status := runWeft(t, "run", "-n", "3", self, "doctor", "-json")
	var r doctor.Report
	if err := json.Unmarshal([]byte(out), &r); err != nil || status != 0 {
		t.Fatalf("%v: status %d: %s%s", err, status, out, stderr)
	}
	for _, p := range r.Pairs() {
		if p.Error() != "" || p.There.Measured == nil {
			t.Errorf("%d to %d: %+v, back %+v", p.From.Rank, p.To.Rank, p.There, p.Back)
		}
	}
	if len(r.Pairs()) != 3 {
		t.Errorf("%d pairs", len(r.Pairs()))
	}
	if _, stderr, status := runWeft(t, "run", "-n", "1", self, "doctor", "-n", "3"); status == 0 ||
		!strings.Contains(stderr, "this process is a rank already") {
		t.Errorf("status %d: %s", status, stderr)
	}
}

// TestDoctorHere: without other hosts the ranks of this one are measured.
func TestDoctorHere(t *testing.T) {
	out, stderr, status := runWeft(t, "doctor", "-n", "3")
	if status != 0 || strings.Count(out, "same host, so shared memory") != 3 ||
		!strings.HasPrefix(out, "1 host, 3 ranks\n") {
		t.Errorf("status %d: %s%s", status, stderr, out)
	}
}
