package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"weft/internal/doctor"
	"weft/internal/netlab"
	"weft/internal/netlab/netlabtest"
	"weft/internal/sys"
)

// doctorIn runs weft doctor on the hosts of a lab.
func doctorIn(t *testing.T, l *netlab.Lab, args ...string) (report doctor.Report, status int) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, append([]string{"doctor", "-json"}, args...)...)
	cmd.Env = append(os.Environ(), envCommand+"=1", labEnv(l, 1))
	var out, errs bytes.Buffer
	cmd.Stdout = &out
	cmd.Stderr = &errs
	var ended *exec.ExitError
	if err := sys.InNetwork(l.Hosts[0].Namespace, cmd.Run); errors.As(err, &ended) {
		status = ended.ExitCode()
	} else if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(out.Bytes(), &report); err != nil {
		t.Fatalf("%v: status %d: %s%s", err, status, out.String(), errs.String())
	}
	return report, status
}

// found returns the findings that say something.
func found(r *doctor.Report, what string) (all []doctor.Finding) {
	for _, f := range r.Findings {
		if strings.Contains(f.What, what) {
			all = append(all, f)
		}
	}
	return all
}

// TestDoctorFindsMTU: of three hosts one takes shorter packets, and is named; every pair
// has been measured, and none of it stops a job.
func TestDoctorFindsMTU(t *testing.T) {
	needsLab(t)
	l := netlabtest.New(t, func() (*netlab.Lab, error) { return netlab.Make(3, 1500) })
	if err := l.Hosts[2].SetMTU(1400); err != nil {
		t.Fatal(err)
	}
	r, status := doctorIn(t, l)
	name := filepath.Base(l.Hosts[2].Namespace)
	if f := found(&r, "MTU of eth0 differs: 1500 on"); len(f) != 1 || len(f[0].Where) != 1 || f[0].Where[0] != name ||
		f[0].Weight != doctor.Slow {
		t.Errorf("found %+v", r.Findings)
	}
	if status != 0 {
		t.Errorf("status %d: %+v", status, r.Findings)
	}
	pairs := r.Pairs()
	if len(pairs) != 3 {
		t.Errorf("%d pairs", len(pairs))
	}
	for _, p := range pairs {
		if p.Error() != "" || p.There.Measured == nil || p.There.Transport != "eth" || p.There.MTU != p.Back.MTU ||
			(p.There.MTU > 1400) != (p.To.Rank < 2) {
			t.Errorf("%d to %d: %+v, back %+v", p.From.Rank, p.To.Rank, p.There, p.Back)
		}
	}
}

// TestDoctorFindsTheUnreachable: a host whose interface is down stops a job, and the others
// are measured all the same.
func TestDoctorFindsTheUnreachable(t *testing.T) {
	needsLab(t)
	l := netlabtest.New(t, func() (*netlab.Lab, error) { return netlab.Make(3, 1500) })
	if err := l.Hosts[2].SetUp(false); err != nil {
		t.Fatal(err)
	}
	r, status := doctorIn(t, l, "-transport", "udp")
	where := 0
	for _, f := range found(&r, "they do not reach each other") {
		where += len(f.Where)
	}
	if status != 1 || where != 2 {
		t.Errorf("status %d: %+v", status, r.Findings)
	}
	if p := r.Pairs()[0]; p.Error() != "" || p.There.Measured == nil {
		t.Errorf("0 to 1: %+v, back %+v", p.There, p.Back)
	}
}

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

// TestDoctorHosts: an agent on each of several hosts starts a rank, and all pairs are measured
// over the network.
func TestDoctorHosts(t *testing.T) {
	needsLab(t)
	l := netlabtest.New(t, func() (*netlab.Lab, error) { return netlab.Make(3, 1500) })
	rsh := filepath.Join(t.TempDir(), "rsh") // HOST COMMAND…
	script := "#!/bin/sh\nhost=$1\nshift\nexec nsenter --net=" + filepath.Dir(l.Hosts[0].Namespace) +
		"/$host sh -c \"$*\"\n"
	if err := os.WriteFile(rsh, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, h := range l.Hosts {
		names = append(names, filepath.Base(h.Namespace))
	}
	t.Setenv(envCommand, "1") // the agents are this executable, too
	var out, stderr string
	var status int
	if err := sys.InNetwork(l.Hosts[0].Namespace, func() error {
		out, stderr, status = runWeft(t, "doctor", "-json", "-hosts", strings.Join(names, ","), "-rsh", rsh)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	var r doctor.Report
	if err := json.Unmarshal([]byte(out), &r); err != nil {
		t.Fatalf("%v: status %d: %s%s", err, status, out, stderr)
	}
	if len(r.Hosts()) != 3 || status != 0 {
		t.Errorf("status %d, hosts %+v", status, r.Hosts())
	}
	for _, p := range r.Pairs() {
		if p.Error() != "" || p.There.Measured == nil || p.There.Transport != "udp" {
			t.Errorf("%d to %d: %+v, back %+v", p.From.Rank, p.To.Rank, p.There, p.Back)
		}
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

// TestDoctorHere: without other hosts two ranks of this one are measured; the picture has a
// cell for each pair and a name for each rank.
func TestDoctorHere(t *testing.T) {
	picture := filepath.Join(t.TempDir(), "pairs.svg")
	out, stderr, status := runWeft(t, "doctor", "-n", "3", "-svg", picture)
	if status != 0 || strings.Count(out, "same host, so shared memory") != 3 ||
		!strings.HasPrefix(out, "1 host, 3 ranks\n") {
		t.Errorf("status %d: %s%s", status, stderr, out)
	}
	svg, err := os.ReadFile(picture)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{":0<", ":1<", ":2<", "one way in µs", "MB/s"} {
		if !bytes.Contains(svg, []byte(name)) {
			t.Errorf("%q is not in the picture", name)
		}
	}
}
