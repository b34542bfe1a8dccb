package provider

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"weft/internal/waittest"
)

// build makes the provider and a program of MPI, and returns the directory of the one and the other.
func build(t *testing.T, program string) (dir, binary string) {
	t.Helper()
	for _, need := range []string{"gcc", "mpicc.openmpi", "mpirun.openmpi"} {
		if _, err := exec.LookPath(need); err != nil {
			t.Skip(err)
		}
	}
	if _, err := os.Stat("/usr/include/rdma/providers/fi_prov.h"); err != nil {
		t.Skip("the headers of libfabric are not installed: ", err)
	}
	dir = t.TempDir()
	run(t, exec.Command("./build", dir))
	binary = filepath.Join(dir, program)
	run(t, exec.Command("mpicc.openmpi", "-Wall", "-o", binary, "testdata/"+program+".c"))
	return dir, binary
}

// run runs a command, which must succeed.
func run(t *testing.T, c *exec.Cmd) {
	t.Helper()
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", c, err, out)
	}
}

// start runs a program of MPI by a command that takes mpirun's options, over the provider.
func start(t *testing.T, dir string, command []string, ranks, binary string, env ...string) (out string, err error) {
	t.Helper()
	ctx, cancel := context.WithDeadline(t.Context(), waittest.End())
	defer cancel()
	args := append(command[1:], "-n", ranks, "--mca", "pml", "cm", "--mca", "mtl", "ofi",
		"--mca", "mtl_ofi_provider_include", "weft", "-x", "FI_PROVIDER_PATH", "-x", "WEFT_BIND", "-x", "WEFT_INTERFACE",
		"-x", "FI_LOG_LEVEL", binary)
	c := exec.CommandContext(ctx, command[0], args...)
	c.Env = append(os.Environ(), "FI_PROVIDER_PATH="+dir, "FI_LOG_LEVEL=warn", "WEFT_BIND=", "WEFT_INTERFACE=",
		"HFI_NO_BACKTRACE=1", "IPATH_NO_BACKTRACE=1", "TMPDIR="+t.TempDir())
	c.Env = append(c.Env, env...)
	b, err := c.CombinedOutput()
	return string(b), err
}

// A program of MPI runs over weft unchanged, while signals interrupt it; and a rank that is killed ends its job.
func TestOpenMPI(t *testing.T) {
	dir, exchange := build(t, "exchange")
	here := []string{"mpirun.openmpi", "--oversubscribe", "--allow-run-as-root"}
	out, err := start(t, dir, here, "2", exchange, "WEFT_BIND=127.0.0.1")
	if err != nil || !strings.Contains(out, "exchanged\n") {
		t.Errorf("%v\n%s", err, out)
	}
	die := filepath.Join(dir, "die")
	run(t, exec.Command("mpicc.openmpi", "-Wall", "-o", die, "testdata/die.c"))
	if out, err := start(t, dir, here, "2", die, "WEFT_BIND=127.0.0.1"); err == nil || !strings.Contains(out, "signal 9") {
		t.Errorf("a rank was killed: %v\n%s", err, out)
	}
	if os.Getenv("WEFT_HOSTS") == "" || os.Getuid() != 0 {
		return
	}
	// Two ranks on each of two hosts: by UDP within them, by raw Ethernet between them.
	out, err = start(t, dir, []string{"./hosts"}, "4", exchange, "WEFT_INTERFACE=eth0")
	if err != nil || !strings.Contains(out, "exchanged\n") || strings.Contains(out, "weft:ep_ctrl") {
		t.Errorf("between hosts: %v\n%s", err, out)
	}
}
