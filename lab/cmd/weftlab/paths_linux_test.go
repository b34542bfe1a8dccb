package main

import (
	"bytes"
	"os"
	"os/exec"
	"strings"
	"testing"

	"weft/internal/sys"
	"weft/lab/netlab"
	"weft/lab/netlab/netlabtest"
)

// TestNarrowJobs: Integer Sort ends, and is right, where the route of one host takes
// shorter packets than its interface, with a router between that does, and where long
// packets get lost in silence; weft info tells.
func TestNarrowJobs(t *testing.T) {
	needsLab(t)
	is := program(t, "weft/examples/nas/is")
	for _, c := range []struct {
		name  string
		make  func(hosts, mtu int) (*netlab.Lab, error)
		spoil func(l *netlab.Lab) error
		info  string
	}{
		{"route", netlab.Make, func(l *netlab.Lab) error { return l.Hosts[1].SetRouteMTU(1280) },
			"the route takes packets of 1252 bytes, not 1472"},
		{"router", netlab.MakeRouted, func(l *netlab.Lab) error { return l.Narrow(0, 1280) }, "packets leave in batches"},
		{"black hole", netlab.Make,
			func(l *netlab.Lab) error { _, err := l.Trouble(netlab.Trouble{Longest: 1300}); return err },
			"packets leave in batches"},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := netlabtest.New(t, func() (*netlab.Lab, error) { return c.make(2, 1500) })
			if err := c.spoil(l); err != nil {
				t.Fatal(err)
			}
			out := weftIn(t, l, "run", "-n", "2", "-transport", "udp", "-timeout", "2m", is, "-class", "S")
			if !strings.Contains(out, "SUCCESSFUL") {
				t.Error(out)
			}
			if out := weftIn(t, l, "info", "-transport", "udp"); !strings.Contains(out, c.info) {
				t.Errorf("weft info does not tell of %q: %s", c.info, out)
			}
		})
	}
}

// weftIn runs weft on the first host of a lab, and returns what it says.
func weftIn(t *testing.T, l *netlab.Lab, args ...string) string {
	t.Helper()
	cmd := exec.Command(program(t, "weft/cmd/weft"), args...)
	cmd.Env = append(os.Environ(), l.Env(1))
	var out bytes.Buffer
	cmd.Stdout = &out
	cmd.Stderr = &out
	if err := sys.InNetwork(l.Hosts[0].Namespace, cmd.Start); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("weft %v: %v: %s", args, err, &out)
	}
	return out.String()
}
