//go:build !race

package environment

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"weft/internal/launch"
	"weft/internal/sys"
	"weft/internal/waitgraph"
	"weft/lab/netlab/netlabtest"
)

// A rank 0 that may not have a connection to each of the others says so at once.
func TestTooFewDescriptors(t *testing.T) {
	hello := program(t, "weft/examples/hello")
	env := []string{EnvSecret + "=a secret for a test of limits", "WEFT_RANK=0", "WEFT_SIZE=100",
		"WEFT_RENDEZVOUS=localhost:" + freePort(t)}
	out, err := run(t, env, "sh", "-c", "ulimit -n 64; exec "+hello)
	if err == nil || strings.Count(out, "\n") != 1 ||
		!strings.Contains(out, "needs about 120 descriptors: it may have 64 (ulimit -n)") {
		t.Errorf("%v: %s", err, out)
	}
}

// A rank with another secret ends, with a line that names it, and rank 0 says so, too. The rank tries for ten seconds,
// since the store may be that of an earlier job.
func TestAnotherSecret(t *testing.T) {
	t.Parallel() // it waits for ten seconds
	out := twoSecrets(t, program(t, "weft/examples/hello"), "localhost:"+freePort(t))
	if strings.Count(out, "or a rank with another WEFT_SECRET or WEFT_SECRET_FILE than rank 0") != 1 {
		t.Errorf("rank 0: %s", out)
	}
}

// So does a rank that finds in etcd what another secret seals. Rank 0, to which it does not come, waits for it.
func TestAnotherSecretInEtcd(t *testing.T) {
	t.Parallel() // it waits for ten seconds
	twoSecrets(t, withEtcd(t, "weft/examples/nas/is"), "etcd://"+startEtcd(t)+"/jobs/secrets")
}

// A program that does not import weft/etcd says what it lacks.
func TestNoEtcd(t *testing.T) {
	env := []string{EnvSecret + "=a secret for a test of etcd", EnvSize + "=2", EnvRendezvous + "=etcd://localhost/job"}
	out, err := run(t, env, program(t, "weft/examples/hello"))
	if err == nil || !strings.Contains(out, `this program does not speak etcd; it must import _ "weft/etcd"`) {
		t.Errorf("%v: %s", err, out)
	}
}

// twoSecrets starts two ranks that differ in their secret and meet at a place. When rank 1 has ended as it must, rank 0
// is told to end. It returns what rank 0 has said.
func twoSecrets(t *testing.T, hello, place string) string {
	t.Helper()
	var ranks []*process
	for i := range 2 {
		ranks = append(ranks, begin(t, []string{fmt.Sprintf("%s=secret %d of a test of two", EnvSecret, i),
			fmt.Sprint("WEFT_RANK=", i), "WEFT_SIZE=2", EnvRendezvous + "=" + place}, hello))
	}
	wantAnotherSecret(t, ranks[1])
	if err := ranks[0].cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	_ = ranks[0].cmd.Wait() // what it has said tells
	return ranks[0].out.String()
}

// wantAnotherSecret waits until rank 1 of a job has ended with one line, which names the rank and says why.
func wantAnotherSecret(t *testing.T, rank *process) {
	t.Helper()
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	err = rank.cmd.Wait()
	out := rank.out.String()
	if want := "weft: rank 1 on " + host + ": "; err == nil || strings.Count(out, "\n") != 1 ||
		!strings.HasPrefix(out, want) || !strings.Contains(out, "guarded by another secret") {
		t.Errorf("rank 1: %v: %s", err, out)
	}
}

// Where nobody but rank 0 knows all ranks it answers what they wait for, and says it when it gets SIGQUIT.
func TestQuestions(t *testing.T) {
	ping := program(t, "weft/examples/ping")
	port := freePort(t)
	var ranks []*exec.Cmd
	var said bytes.Buffer
	for i := range 2 {
		c := exec.CommandContext(t.Context(), ping, "-count", "1000000000")
		c.Env = append(c.Environ(), EnvSecret+"=a secret for a test of questions", fmt.Sprint("WEFT_RANK=", i), "WEFT_SIZE=2",
			EnvLiveness+"=1m",
			"WEFT_RENDEZVOUS=localhost:"+port)
		if i == 0 {
			c.Stderr = &said
		}
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		ranks = append(ranks, c)
	}
	pid := ranks[0].Process.Pid
	var jobs []launch.Status
	answered := func(r waitgraph.Report) bool { return r.PID == ranks[r.Rank].Process.Pid && !r.Silent && r.Ended == "" }
	netlabtest.Until(t, "both ranks answer", func() (any, bool) {
		var err error
		jobs, err = launch.Jobs(pid) // there is none at first, and on a busy machine ranks answer late
		return fmt.Sprintf("%+v, %v", jobs, err),
			len(jobs) == 1 && len(jobs[0].Ranks) == 2 && answered(jobs[0].Ranks[0]) && answered(jobs[0].Ranks[1])
	})
	if jobs[0].PID != pid || jobs[0].By != "variables of weft's own" {
		t.Fatalf("%+v", jobs)
	}
	if err := ranks[1].Process.Signal(syscall.SIGSTOP); err != nil { // it says nothing any more
		t.Fatal(err)
	}
	netlabtest.Until(t, "rank 1 is stopped", func() (any, bool) { // the signal may reach it late
		return "a rank 1 that runs", sys.StoppedOrGone(ranks[1].Process.Pid)
	})
	if err := ranks[0].Process.Signal(syscall.SIGQUIT); err != nil {
		t.Fatal(err)
	}
	_ = ranks[0].Wait() // what it has said tells
	if err := ranks[1].Process.Kill(); err != nil {
		t.Error(err)
	}
	_ = ranks[1].Wait() // it was killed
	for _, want := range []string{"does not answer: is it stopped?", "SIGQUIT: quit", "goroutine "} {
		if !strings.Contains(said.String(), want) {
			t.Errorf("rank 0 has not said %q: %s", want, said.String())
		}
	}
	if jobs, err := launch.Jobs(pid); err == nil {
		t.Errorf("%+v", jobs)
	}
}
