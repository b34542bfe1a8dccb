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
	"weft/internal/sys"
	"weft/lab/netlab"
	"weft/lab/netlab/netlabtest"
)

// doctorIn runs weft doctor on the hosts of a lab.
func doctorIn(t *testing.T, l *netlab.Lab, args ...string) (report doctor.Report, status int) {
	t.Helper()
	cmd := exec.Command(program(t, "weft/cmd/weft"), append([]string{"doctor", "-json"}, args...)...)
	cmd.Env = append(os.Environ(), l.Env(1))
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
