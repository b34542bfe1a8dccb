//go:build !race

package environment

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"weft/lab/netlab"
	"weft/lab/netlab/netlabtest"
)

// A slurm is a cluster of Slurm's own daemons: a controller, and a slurmd on each host of a lab,
// which has a private table of hosts.
type slurm struct {
	t    *testing.T
	dir  string
	lab  *netlab.Lab
	host string // of the machine, as all slurmds call it
}

// need skips a test that cannot be made here.
func need(t *testing.T, programs ...string) {
	t.Helper()
	for _, p := range programs {
		if _, err := exec.LookPath(p); err != nil {
			t.Skipf("%s is not installed", p)
		}
	}
}

// startSlurm starts a cluster with so many hosts of four processors each.
func startSlurm(t *testing.T, hosts int) *slurm {
	t.Helper()
	need(t, "slurmctld", "slurmd", "srun", "munged", "unshare", "nsenter")
	if os.Getuid() != 0 {
		t.Skip("slurmd needs root")
	}
	l, err := netlab.Make(hosts, 0)
	if err != nil {
		t.Skipf("no hosts: %v", err)
	}
	t.Cleanup(func() { _ = l.Remove() })
	name, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	s := &slurm{t, t.TempDir(), l, name}
	for _, d := range []string{"spool", "state", "log"} {
		if err := os.Mkdir(filepath.Join(s.dir, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	s.configure()
	s.daemon(-1, "munged", "--foreground", "--force", "--key-file="+s.file("munge.key"), "--socket="+s.file("munge.sock"),
		"--pid-file="+s.file("munged.pid"), "--seed-file="+s.file("munge.seed"), "--log-file="+s.file("munged.log"))
	netlabtest.Until(t, "munged has a socket", func() (any, bool) {
		_, err := os.Stat(s.file("munge.sock"))
		return err, err == nil
	})
	s.daemon(0, "slurmctld", "-D", "-f", s.file("slurm.conf"))
	for i := range l.Hosts {
		s.daemon(i, "slurmd", "-D", "-f", s.file("slurm.conf"), "-N", fmt.Sprintf("n%d", i+1))
	}
	netlabtest.Until(t, "all nodes of Slurm are idle", func() (any, bool) {
		out, err := s.command(context.Background(), 0, "sinfo", "-h", "-N", "-o", "%t").CombinedOutput()
		return fmt.Sprintf("%v: %s", err, out), err == nil && strings.Count(string(out), "idle") == hosts
	})
	return s
}

func (s *slurm) file(name string) string { return filepath.Join(s.dir, name) }

// configure writes what the daemons read.
func (s *slurm) configure() {
	key := make([]byte, 1024)
	rand.Read(key)
	table := "127.0.0.1 localhost\n"
	conf := fmt.Sprintf(`ClusterName=weft
SlurmctldHost=%[1]s(%[2]s)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=%[3]s/munge.sock
CryptoType=crypto/munge
SlurmctldPort=16817
SlurmctldPidFile=%[3]s/slurmctld.pid
SlurmdPidFile=%[3]s/slurmd-%%n.pid
SlurmdSpoolDir=%[3]s/spool/%%n
StateSaveLocation=%[3]s/state
SlurmctldLogFile=%[3]s/log/slurmctld.log
SlurmdLogFile=%[3]s/log/slurmd-%%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SchedulerType=sched/builtin
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
ReturnToService=2
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
SwitchType=switch/none
KillWait=5
`, s.host, s.lab.Hosts[0].IP, s.dir)
	for i, h := range s.lab.Hosts {
		conf += fmt.Sprintf("NodeName=n%d NodeHostname=%s NodeAddr=%s Port=17001 CPUs=4 RealMemory=1000 State=UNKNOWN\n", i+1,
			s.host, h.IP)
		table += fmt.Sprintf("%s n%d\n", h.IP, i+1)
	}
	table += fmt.Sprintf("%s %s\n", s.lab.Hosts[0].IP, s.host)
	conf += fmt.Sprintf("PartitionName=main Nodes=n[1-%d] Default=YES MaxTime=INFINITE State=UP\n", len(s.lab.Hosts))
	for name, text := range map[string]string{"slurm.conf": conf, "hosts": table, "munge.key": string(key)} {
		if err := os.WriteFile(s.file(name), []byte(text), 0o600); err != nil {
			s.t.Fatal(err)
		}
	}
}

// command returns a command on a host of the cluster, or on this one if host is -1. It sees the
// cluster's table of hosts, and is in a group of its own.
func (s *slurm) command(ctx context.Context, host int, args ...string) *exec.Cmd {
	script := `mount --bind "$0" /etc/hosts && exec "$@"`
	words := append([]string{"unshare", "-m", "sh", "-c", script, s.file("hosts")}, args...)
	if host >= 0 {
		words = append([]string{"nsenter", "--net=" + s.lab.Hosts[host].Namespace}, words...)
	}
	c := exec.CommandContext(ctx, words[0], words[1:]...)
	c.Env = append(os.Environ(), "SLURM_CONF="+s.file("slurm.conf"))
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGTERM) }
	c.WaitDelay = 10 * time.Second
	return c
}

// daemon starts a command that runs until the test ends.
func (s *slurm) daemon(host int, args ...string) {
	s.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	c := s.command(ctx, host, args...)
	var out bytes.Buffer
	c.Stdout = &out
	c.Stderr = &out
	if err := c.Start(); err != nil {
		cancel()
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() {
		cancel()
		_ = c.Wait() // it was told to end
		if s.t.Failed() {
			s.t.Logf("%s:\n%s", args[0], out.String())
		}
	})
}

// run runs srun, and returns what it prints.
func (s *slurm) run(env []string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(s.t.Context(), 2*time.Minute)
	defer cancel()
	c := s.command(ctx, 0, append([]string{"srun"}, args...)...)
	c.Env = append(c.Env, env...)
	out, err := c.CombinedOutput()
	return string(out), err
}
