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

// mpirun runs a program of Open MPI over the provider, on the loopback.
func mpirun(t *testing.T, dir, ranks, binary string) (out string, err error) {
	t.Helper()
	ctx, cancel := context.WithDeadline(t.Context(), waittest.End())
	defer cancel()
	c := exec.CommandContext(ctx, "mpirun.openmpi", "-n", ranks, "--oversubscribe", "--allow-run-as-root",
		"--mca", "pml", "cm", "--mca", "mtl", "ofi", "--mca", "mtl_ofi_provider_include", "weft", binary)
	c.Env = append(os.Environ(), "FI_PROVIDER_PATH="+dir, "WEFT_BIND=127.0.0.1", "FI_LOG_LEVEL=warn",
		"OMPI_MCA_rmaps_base_oversubscribe=1", "HFI_NO_BACKTRACE=1", "IPATH_NO_BACKTRACE=1", "TMPDIR="+t.TempDir())
	b, err := c.CombinedOutput()
	return string(b), err
}

// A program of MPI runs over weft unchanged, while signals interrupt it; and a rank that is killed ends its job.
func TestOpenMPI(t *testing.T) {
	dir, exchange := build(t, "exchange")
	out, err := mpirun(t, dir, "2", exchange)
	if err != nil || !strings.Contains(out, "exchanged\n") {
		t.Errorf("%v\n%s", err, out)
	}
	die := filepath.Join(dir, "die")
	run(t, exec.Command("mpicc.openmpi", "-Wall", "-o", die, "testdata/die.c"))
	if out, err := mpirun(t, dir, "2", die); err == nil || !strings.Contains(out, "signal 9") {
		t.Errorf("a rank was killed: %v\n%s", err, out)
	}
}
