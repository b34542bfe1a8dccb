//go:build !race

package environment

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"weft/internal/programtest"
	"weft/internal/waittest"
	"weft/lab/netlab"
	"weft/lab/netlab/netlabtest"
)

// class is the problem that the launchers' tests solve: another one with WEFT_TEST_CLASS.
func class() string {
	if c := os.Getenv("WEFT_TEST_CLASS"); c != "" {
		return c
	}
	return "S"
}

// programs is a directory with the programs that tests start.
var programs string

// program returns an executable of a package of the module, or what has been put in its place.
func program(t *testing.T, pkg string) string {
	t.Helper()
	name := filepath.Join(programs, filepath.Base(pkg))
	if _, err := os.Stat(name); err != nil {
		programtest.Make(t, programs, pkg)
	}
	return name
}

func TestMain(m *testing.M) {
	if victim := os.Getenv(envVictim); victim != "" {
		os.Exit(beRank(victim))
	}
	var err error
	if programs, err = os.MkdirTemp("", "weft-launchers-"); err != nil {
		panic(err)
	}
	status := m.Run()
	os.RemoveAll(programs)
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
	ctx, cancel := context.WithTimeout(t.Context(), waittest.Patience)
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
	t.Run("weft run in an allocation", func(t *testing.T) { // starts its agents by srun
		weft := program(t, "weft/cmd/weft")
		ctx, cancel := context.WithTimeout(t.Context(), waittest.Patience)
		defer cancel()
		out, err := s.command(ctx, 0, "salloc", "--quiet", "-N3", "-n4", weft, "run", is, "-class", class()).CombinedOutput()
		sorts(t, string(out), err)
	})
	t.Run("two steps on the same hosts", func(t *testing.T) { // neither is told a port
		var steps sync.WaitGroup
		for range 2 {
			steps.Go(func() {
				out, err := s.run(secret, "-N2", "-n4", is, "-class", "S")
				sorts(t, out, err)
			})
		}
		steps.Wait()
	})
	t.Run("no secret", func(t *testing.T) {
		out, err := s.run(nil, "-N3", "-n3", is, "-class", "S")
		if err == nil || !strings.Contains(out, EnvSecret+" is not set") {
			t.Errorf("%v\n%s", err, out)
		}
	})
}

// A process is one of a job that a test starts by hand.
type process struct {
	cmd *exec.Cmd
	out bytes.Buffer
}

// begin starts a process with variables added to the environment.
func begin(t *testing.T, env []string, args ...string) *process {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), waittest.Patience)
	t.Cleanup(cancel)
	p := &process{cmd: exec.CommandContext(ctx, args[0], args[1:]...)}
	p.cmd.Env = append(os.Environ(), env...)
	p.cmd.Stdout = &p.out
	p.cmd.Stderr = &p.out
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return p
}

// finish waits for processes, fails the test if one has failed, and returns what they printed.
func finish(t *testing.T, processes []*process) (out string) {
	t.Helper()
	for _, p := range processes {
		if err := p.cmd.Wait(); err != nil {
			t.Errorf("%v\n%s", err, p.out.String())
		}
		out += p.out.String()
	}
	return out
}

// freePort returns a port that nothing listens on. It is below the range from which the system gives ports to
// connections and listeners that ask for any, and a socket of its name keeps it from other tests, also of another
// gate, so that nothing takes it before the test's process listens.
func freePort(t *testing.T) string {
	t.Helper()
	const (
		first = 10000
		end   = 32768
	)
	var err error
	for range 100 {
		port := fmt.Sprint(first + rand.IntN(end-first))
		var mine, l net.Listener
		if mine, err = net.Listen("unix", "@weft-test-port-"+port); err != nil {
			continue
		}
		t.Cleanup(func() { mine.Close() })
		if l, err = net.Listen("tcp", "127.0.0.1:"+port); err == nil {
			l.Close()
			return port
		}
	}
	t.Fatal(err)
	return ""
}

// Nothing but variables: weft's own, and those of torchrun, whose agent has the port already.
func TestVariables(t *testing.T) {
	is := program(t, "weft/examples/nas/is")
	secret := EnvSecret + "=a secret for a test of variables"
	t.Run("weft", func(t *testing.T) {
		var ranks []*process
		port := freePort(t)
		for i := range 4 {
			env := []string{secret, fmt.Sprint("WEFT_RANK=", i), "WEFT_SIZE=4", "WEFT_RENDEZVOUS=localhost:" + port}
			ranks = append(ranks, begin(t, env, is, "-class", "S"))
		}
		sorts(t, finish(t, ranks), nil)
	})
	t.Run("torchrun", func(t *testing.T) {
		agent, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer agent.Close()
		_, port, _ := net.SplitHostPort(agent.Addr().String())
		var ranks []*process
		for i := range 4 {
			ranks = append(ranks, begin(t, []string{
				secret, fmt.Sprint("RANK=", i), "WORLD_SIZE=4", fmt.Sprint("LOCAL_RANK=", i), "MASTER_ADDR=localhost",
				"MASTER_PORT=" + port,
				"TORCHELASTIC_RUN_ID=" + t.Name(), "TORCHELASTIC_RESTART_COUNT=0", "TORCHELASTIC_USE_AGENT_STORE=True",
			}, is, "-class", class()))
		}
		sorts(t, finish(t, ranks), nil)
	})
}

// Pods of an Indexed Job: each has its own name, and that of rank 0 is known when the others are
// looking for it already.
func TestKubernetes(t *testing.T) {
	need(t, "nsenter", "unshare", "hostname")
	// Rank 0 serves the job at a port that is always the same: no other job is on this host.
	host := netlabtest.New(t, func() (*netlab.Lab, error) { return netlab.Make(2, 0) }).Hosts[0]
	is := program(t, "weft/examples/nas/is")
	table := filepath.Join(t.TempDir(), "hosts")
	write := func(first int) {
		text := "127.0.0.1 localhost\n"
		for i := first; i < 4; i++ {
			text += fmt.Sprintf("%s sort-%d.ranks.default.svc.cluster.local sort-%[2]d\n", host.IP, i)
		}
		if err := os.WriteFile(table, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	pod := func(i int) *process {
		script := `hostname "$1" && mount --bind "$0" /etc/hosts && shift && exec "$@"`
		return begin(t, []string{EnvSecret + "=a secret for a test of pods", fmt.Sprint("JOB_COMPLETION_INDEX=", i),
			EnvSize + "=4"},
			"nsenter", "--net="+host.Namespace, "unshare", "-m", "-u", "sh", "-c", script, table, fmt.Sprint("sort-", i),
			is, "-class", class())
	}
	write(1)
	var ranks []*process
	for i := 1; i < 4; i++ {
		ranks = append(ranks, pod(i))
	}
	write(0)
	sorts(t, finish(t, append(ranks, pod(0))), nil)
}

// A rank that is killed is a death to the others, also to ranks that have never spoken to it, and
// mpiexec ends.
func TestHydraDeath(t *testing.T) {
	need(t, "mpiexec.hydra")
	hello := program(t, "weft/examples/hello")
	script := `if [ "$PMI_RANK" = 1 ]; then kill -9 $$; fi; exec ` + hello
	out, err := run(t, nil, "mpiexec.hydra", "-launcher", "fork", "-n", "3", "sh", "-c", script)
	if err == nil {
		t.Errorf("mpiexec ended well\n%s", out)
	}
}

// Open MPI's mpirun is told why not.
func TestOpenMPI(t *testing.T) {
	need(t, "mpirun.openmpi")
	hello := program(t, "weft/examples/hello")
	env := []string{"OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1"}
	out, err := run(t, env, "mpirun.openmpi", "--oversubscribe", "-n", "2", hello)
	if err == nil || !strings.Contains(out, "PMIx, which weft does not speak") {
		t.Errorf("%v\n%s", err, out)
	}
}
