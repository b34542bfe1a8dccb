package fabric

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"weft"
	"weft/internal/join"
	"weft/internal/waittest"
	"weft/job"
)

// sayPath says by what a rank reaches the other one, and why, as weft info and weft doctor do.
func sayPath(ctx context.Context, p *weft.Proc) error {
	d, err := p.Connect(ctx, 1-p.Rank())
	if err != nil {
		return err
	}
	fmt.Printf("%s since %s; path: %s\n", d.Transport, d.Why, d.Path)
	return p.Barrier("end", nil).Wait(ctx)
}

// said starts a job of two ranks on two hosts, and returns what both say, or why the job has failed.
func said(t *testing.T, transport weft.Transport, env ...string) (string, error) {
	t.Helper()
	j, err := job.Start(t.Context(), job.Config{
		Ranks: 2, Hosts: 2, Run: "path", Transport: transport, Liveness: waittest.Patience, Env: env,
	})
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	err = j.Wait(t.Context())
	return j.Output(0) + j.Output(1), err
}

// withoutLibrary is an environment where libfabric cannot be loaded.
func withoutLibrary(t *testing.T) string {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "libfabric.so.1"), []byte("none"), 0o644); err != nil {
		t.Fatal(err)
	}
	return "LD_LIBRARY_PATH=" + dir
}

// Ranks say by which provider they reach others. Where there is none, or it fails at start, they say so, and the job
// goes by UDP; it fails if libfabric was asked for.
func TestSaid(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	_, port, _ := net.SplitHostPort(taken.Addr().String())
	for _, c := range []struct {
		name string
		env  []string
		want string // of auto
		asks string // the error if libfabric is asked for; "": that is not looked at
	}{
		{
			"provider", []string{join.EnvFabric + "=tcp;ofi_rxm"},
			"fabric since another host, and libfabric has tcp;ofi_rxm; path: tcp;ofi_rxm on ", "",
		},
		{
			"library", []string{withoutLibrary(t)},
			"udp since another host, so UDP; no libfabric (libfabric.so.1 is not installed (Debian: libfabric1): ",
			"libfabric.so.1 is not installed",
		},
		{
			"the provider fails", []string{
				join.EnvFabric + "=tcp;ofi_rxm", "FI_TCP_PORT_LOW_RANGE=" + port, "FI_TCP_PORT_HIGH_RANGE=" + port,
			},
			"udp since another host, so UDP; no libfabric (tcp;ofi_rxm on ", "weft: fabric: tcp;ofi_rxm on ",
		},
		{
			"guard", []string{join.EnvFabric + "=tcp;ofi_rxm", "WEFT_GUARD=encrypt"},
			"udp since another host, so UDP; no libfabric (", "does not authenticate or encrypt packets",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.name != "library" {
				need(t)
			}
			out, err := said(t, weft.TransportAuto, c.env...)
			if err != nil || strings.Count(out, c.want) != 2 {
				t.Errorf("auto: %v\n%s", err, out)
			}
			if c.asks == "" {
				return
			}
			if out, err := said(t, weft.TransportFabric, c.env...); err == nil || !strings.Contains(out, c.asks) {
				t.Errorf("fabric: %v\n%s", err, out)
			}
		})
	}
}

// Without a device auto leaves libfabric alone, and says what it has looked for.
func TestNoDevice(t *testing.T) {
	need(t)
	out, err := said(t, weft.TransportAuto)
	if err != nil || !strings.Contains(out, "no libfabric (libfabric has nothing for verbs;ofi_rxm, efa, ") &&
		!strings.Contains(out, "fabric since another host, and libfabric has ") {
		t.Errorf("%v\n%s", err, out)
	}
}
