package environment

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// class is the problem that the launchers' tests solve: another one with WEFT_TEST_CLASS.
func class() string {
	if c := os.Getenv("WEFT_TEST_CLASS"); c != "" {
		return c
	}
	return "S"
}

// built builds a program once for all tests.
var built struct {
	sync.Mutex
	dir string
}

// program returns an executable of a package of the module.
func program(t *testing.T, pkg string) string {
	t.Helper()
	built.Lock()
	defer built.Unlock()
	if built.dir == "" {
		dir, err := os.MkdirTemp("", "weft-launchers-")
		if err != nil {
			t.Fatal(err)
		}
		built.dir = dir
	}
	name := filepath.Join(built.dir, filepath.Base(pkg))
	if _, err := os.Stat(name); err != nil {
		if out, err := exec.Command("go", "build", "-o", name, pkg).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	return name
}

func TestMain(m *testing.M) {
	status := m.Run()
	if built.dir != "" {
		os.RemoveAll(built.dir)
	}
	os.Exit(status)
}

// sorts fails the test unless a run of Integer Sort has verified.
func sorts(t *testing.T, out string, err error) {
	t.Helper()
	if err != nil || !strings.Contains(out, "SUCCESSFUL") {
		t.Errorf("%v\n%s", err, out)
	}
}

// run runs a command with variables added to the environment.
func run(t *testing.T, env []string, args ...string) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	c := exec.CommandContext(ctx, args[0], args[1:]...)
	c.Env = append(os.Environ(), env...)
	c.WaitDelay = 5 * time.Second
	out, err := c.CombinedOutput()
	return string(out), err
}

// MPICH's mpiexec offers PMI by a descriptor, or a port.
func TestHydra(t *testing.T) {
	need(t, "mpiexec.hydra")
	is := program(t, "weft/examples/nas/is")
	for name, flags := range map[string][]string{
		"descriptor": {"-hosts", "localhost,127.0.0.1", "-ppn", "2"},
		"port":       {"-pmi-port", "-hosts", "localhost,127.0.0.1", "-ppn", "2"},
	} {
		t.Run(name, func(t *testing.T) {
			args := append([]string{"mpiexec.hydra", "-launcher", "fork", "-n", "4"}, flags...)
			out, err := run(t, nil, append(args, is, "-class", class())...)
			sorts(t, out, err)
		})
	}
}

// srun offers PMI if it is asked to, and otherwise nothing but variables.
func TestSlurm(t *testing.T) {
	is := program(t, "weft/examples/nas/is")
	s := startSlurm(t, 3)
	secret := []string{EnvSecret + "=a secret for a test of srun"}
	t.Run("pmi2", func(t *testing.T) {
		out, err := s.run(nil, "--mpi=pmi2", "-N3", "-n4", is, "-class", class())
		sorts(t, out, err)
	})
	t.Run("none", func(t *testing.T) {
		out, err := s.run(secret, "-N3", "-n4", is, "-class", class())
		sorts(t, out, err)
	})
	t.Run("no secret", func(t *testing.T) {
		out, err := s.run(nil, "-N3", "-n3", is, "-class", "S")
		if err == nil || !strings.Contains(out, EnvSecret+" is not set") {
			t.Errorf("%v\n%s", err, out)
		}
	})
}
