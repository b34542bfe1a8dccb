package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"weft/internal/sys"
	"weft/lab/netlab"
	"weft/lab/netlab/netlabtest"
)

// A cluster is hosts of a lab, with an sshd on each. The launcher runs on the first.
type cluster struct {
	t    *testing.T
	lab  *netlab.Lab
	dir  string
	sshd []*exec.Cmd
	weft string
}

// newCluster makes a cluster. Its hosts are called h0, h1 …, and again g0, g1 …
func newCluster(t *testing.T, hosts int) *cluster {
	t.Helper()
	return newClusterOf(t, netlab.IPv4, hosts)
}

// newClusterOf makes a cluster whose hosts have addresses of a family.
func newClusterOf(t *testing.T, family netlab.Family, hosts int) *cluster {
	t.Helper()
	if raceEnabled {
		t.Skip("the command is built without the race detector, which has looked at its packages")
	}
	needsLab(t)
	server, err := exec.LookPath("sshd")
	if err != nil {
		if server = "/usr/sbin/sshd"; !exists(server) {
			t.Skip("sshd is not installed (openssh-server)")
		}
	}
	c := &cluster{t: t, dir: t.TempDir()}
	c.weft = c.build("weft/cmd/weft")
	if c.lab, err = family.Make(hosts, 1500); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.remove)
	if err := os.MkdirAll("/run/sshd", 0o755); err != nil { // where sshd keeps its unprivileged half
		t.Fatal(err)
	}
	for _, key := range []string{"user", "host"} {
		if text, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f",
			c.path(key)).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, text)
		}
	}
	c.configure()
	for i := range hosts {
		cmd := exec.Command(server, "-D", "-e", "-f", c.path("sshd_config"))
		if err := sys.InNetwork(c.lab.Hosts[i].Namespace, cmd.Start); err != nil {
			t.Fatal(err)
		}
		c.sshd = append(c.sshd, cmd)
	}
	for i := range hosts {
		c.until("sshd listens", func() bool {
			answers := false
			_ = sys.InNetwork(c.lab.Hosts[0].Namespace, func() error {
				conn, err := net.Dial("tcp", net.JoinHostPort(c.lab.Hosts[i].IP.String(), "22"))
				if answers = err == nil; answers {
					conn.Close()
				}
				return nil
			})
			return answers
		})
	}
	return c
}

// configure writes what ssh and sshd must know.
func (c *cluster) configure() {
	var config, known strings.Builder
	key := c.read("host.pub")
	for i, h := range c.lab.Hosts {
		fmt.Fprintf(&config, "Host h%d g%d\n  HostName %s\n", i, i, h.IP)
		fmt.Fprintf(&known, "%s %s", h.IP, key)
	}
	fmt.Fprintf(&config,
		"Host *\n  IdentityFile %s\n  IdentitiesOnly yes\n  UserKnownHostsFile %s\n  StrictHostKeyChecking yes\n",
		c.path("user"), c.path("known"))
	c.write("ssh_config", config.String())
	c.write("known", known.String())
	c.write("authorized", c.read("user.pub"))
	// A home of the cluster's own: what a shell does first in the user's takes seconds on some machines.
	c.write("sshd_config",
		fmt.Sprintf("HostKey %s\nAuthorizedKeysFile %s\nStrictModes no\nUsePAM no\nPidFile none\nPermitRootLogin yes\n"+
			"MaxStartups 200\nSetEnv HOME=%s\n",
			c.path("host"), c.path("authorized"), c.dir))
}

func (c *cluster) path(name string) string { return filepath.Join(c.dir, name) }

func (c *cluster) write(name, text string) {
	c.t.Helper()
	if err := os.WriteFile(c.path(name), []byte(text), 0o600); err != nil {
		c.t.Fatal(err)
	}
}

func (c *cluster) read(name string) string {
	c.t.Helper()
	text, err := os.ReadFile(c.path(name))
	if err != nil {
		c.t.Fatal(err)
	}
	return string(text)
}

func exists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}

// build returns a program in the cluster's directory.
func (c *cluster) build(pkg string) string {
	c.t.Helper()
	file := c.path(path.Base(pkg))
	if err := os.Link(program(c.t, pkg), file); err != nil && !errors.Is(err, os.ErrExist) {
		c.t.Fatal(err)
	}
	return file
}

// remove takes the cluster down. Nothing may be left of its jobs.
func (c *cluster) remove() {
	c.until("nothing is left of the jobs", func() bool { return len(c.left()) == 0 })
	server, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", c.sshd[0].Process.Pid))
	for i := range c.lab.Hosts { // sshd's children, too: one whose host has lost its interface stays for long
		for _, pid := range c.on(i, server, "") {
			err = errors.Join(err, syscall.Kill(pid, syscall.SIGKILL))
		}
	}
	if err != nil && !errors.Is(err, syscall.ESRCH) {
		c.t.Error(err)
	}
	for _, cmd := range c.sshd {
		cmd.Wait()
	}
	if err := c.lab.Remove(); err != nil {
		c.t.Error(err)
	}
}

// left returns the processes of the cluster's programs, and the directories of agents.
func (c *cluster) left() (found []string) {
	links, _ := filepath.Glob("/proc/[0-9]*/exe")
	for _, link := range links {
		program, err := os.Readlink(link)
		if err == nil && strings.HasPrefix(program, c.dir+"/") {
			found = append(found, filepath.Dir(link)+" "+program)
		}
	}
	dirs, _ := filepath.Glob(c.path("tmp/weft-run-*"))
	return append(found, dirs...)
}

// until waits for what other processes do.
func (c *cluster) until(what string, holds func() bool) {
	c.t.Helper()
	netlabtest.Until(c.t, what, func() (any, bool) { return leftovers{c}, holds() })
}

// leftovers, printed, are what is left of a cluster's jobs: it is looked up only if a test fails.
type leftovers struct{ of *cluster }

func (l leftovers) String() string { return fmt.Sprint(l.of.left()) }

// command returns a weft run on the first host, by way of the cluster's ssh. On a busy machine a host may be silent
// for long.
func (c *cluster) command(args ...string) *exec.Cmd {
	cmd := exec.Command(c.weft,
		append([]string{"run", "-rsh", "ssh -F " + c.path("ssh_config") + " -o BatchMode=yes", "-liveness", "1m"}, args...)...)
	cmd.Env = append(os.Environ(), "GORACE=atexit_sleep_ms=0")
	return cmd
}

// run runs a job to its end.
func (c *cluster) run(args ...string) (out, errs string, status int) {
	c.t.Helper()
	cmd := c.command(args...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout = &stdout
	cmd.Stderr = &stderr
	if err := sys.InNetwork(c.lab.Hosts[0].Namespace, cmd.Start); err != nil {
		c.t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		exit := new(exec.ExitError)
		if !errors.As(err, &exit) {
			c.t.Fatal(err)
		}
		status = exit.ExitCode()
	}
	return stdout.String(), stderr.String(), status
}

var hostsClass = flag.String("hosts.class", "S", "of Integer Sort on several hosts")

// TestHosts runs jobs on four hosts. Nothing is left of a job when the next begins.
func TestHosts(t *testing.T) {
	c := newCluster(t, 4)
	for _, k := range []struct {
		name string
		test func(*testing.T, *cluster)
	}{
		{"sort", sortBetweenHosts}, {"flags", flagsReachRanks}, {"hosts that cannot be", hostsThatCannotBe},
		{"copy", programIsCopied}, {"two names", twoNamesOfAHost}, {"two jobs", twoJobs}, {"shown", ranksAreShown},
		{"two jobs of mpiexec", twoJobsOfHydra},
	} {
		t.Run(k.name, func(t *testing.T) {
			of := *c
			of.t = t
			k.test(t, &of)
			of.until("nothing is left of the jobs", func() bool { return len(of.left()) == 0 })
		})
	}
}

// Integer Sort over ssh on four hosts: shared memory inside each, the network between.
func sortBetweenHosts(t *testing.T, c *cluster) {
	sort := c.build("weft/examples/nas/is")
	out, errs, status := c.run("-n", "8", "-hosts", "h0,h1,h2,h3", sort, "-class", *hostsClass)
	if status != 0 || !strings.Contains(out, "SUCCESSFUL") {
		t.Errorf("status %d: %s%s", status, out, errs)
	}
}

// Hosts that have IPv6 alone are reached by name and by address, and their ranks reach each other.
func TestHostsOfIPv6(t *testing.T) {
	c := newClusterOf(t, netlab.IPv6, 2)
	ping := c.build("weft/examples/ping")
	for _, hosts := range []string{"h0,h1", fmt.Sprintf("h0,[%s]:1", c.lab.Hosts[1].IP)} {
		out, errs, status := c.run("-hosts", hosts, ping, "-count", "10")
		if status != 0 || !strings.Contains(out, "10 round trips of 8 bytes over udp (another host") {
			t.Errorf("%s: status %d: %s%s", hosts, status, out, errs)
		}
	}
}

// Variables and cores are for ranks on other hosts, too; hosts of one machine do not give a core twice.
func flagsReachRanks(t *testing.T, c *cluster) {
	const tell = `echo "$WORD $(sed -n 's/^Cpus_allowed_list:[^0-9]*//p' /proc/self/status)"`
	c.write("tell", "#!/bin/sh\n"+tell+"\n")
	if err := os.Chmod(c.path("tell"), 0o700); err != nil {
		t.Fatal(err)
	}
	cores := sys.Cores()
	if len(cores) < 2 {
		t.Skip("one core is not enough for two ranks")
	}
	out, errs, status := c.run("-hosts", "h1,h2", "-bind-to", "core", "-x", "WORD=two 'words", c.path("tell"))
	for _, core := range cores[:2] {
		if want := "two 'words " + sys.ListCPUs(core) + "\n"; status != 0 || strings.Count(out, want) != 1 {
			t.Errorf("status %d: %q, %q: not %q", status, out, errs, want)
		}
	}
	c.write("hosts", "h1 slots=4 # of which two are used\nh2\n")
	out, errs, status = c.run("-hostfile", c.path("hosts"), "-per-host", "2", "-x", "WORD=once", c.path("tell"))
	if status != 0 || strings.Count(out, "once ") != 4 {
		t.Errorf("-per-host: status %d: %q, %q", status, out, errs)
	}
	_, errs, status = c.run("-hosts", "h1,h2", "-per-host", fmt.Sprint(len(cores)), "-bind-to", "core", c.path("tell"))
	if want := fmt.Sprintf("-bind-to core: %d ranks are more than the %d cores there", 2*len(cores), len(cores)); status == 0 ||
		!strings.Contains(errs, want) {
		t.Errorf("status %d: %q", status, errs)
	}
}

// What is wrong with a host is said in a line that names it, and the job does not start.
func hostsThatCannotBe(t *testing.T, c *cluster) {
	hello := c.build("weft/examples/hello")
	script := func(name, text string) string {
		c.write(name, "#!/bin/sh\n"+text)
		if err := os.Chmod(c.path(name), 0o700); err != nil {
			t.Fatal(err)
		}
		return c.path(name)
	}
	greet := func(hello string) string { // an agent that says this first
		text := `{"op":"hello","hello":` + hello + `}`
		head := fmt.Sprintf(`\001\000\000\000\000\000\000\000\%03o\000\000\000`, len(text))
		return "printf 'weft agent 1\\n" + head + "'; printf '%s' '" + text + "'; cat >/dev/null\n"
	}
	config := c.path("ssh_config")
	stranger := c.path("stranger")
	c.write("stranger", strings.ReplaceAll(c.read("ssh_config"), c.path("user"), c.path("host")))
	for _, k := range []struct {
		what, rsh, want string
	}{
		{"no ssh", c.path("no-such-ssh"), "host h1: " + c.path("no-such-ssh") + " cannot be started"},
		{"no such host", "ssh -o BatchMode=yes", "host h1: ssh: Could not resolve hostname h1"},
		{"refused key", "ssh -F " + stranger + " -o BatchMode=yes", "Permission denied"},
		{"unknown host key", "ssh -F " + config + " -o BatchMode=yes -o UserKnownHostsFile=/dev/null",
			"Host key verification failed"},
		{"no weft", script("gone", `echo "sh: 1: /usr/local/bin/weft: not found" >&2; exit 127`),
			"host h1: there is no weft where it lies here: sh: 1: /usr/local/bin/weft: not found"},
		{"no agent", script("motd", "yes welcome | head -c 100000"), "host h1: what answers there is no agent of weft"},
		{"another version", script("old", greet(`{"Version":"weft v0","OS":"linux","Arch":"amd64"}`)),
			`host h1: it has "weft v0", and here is "weft`},
		{"another architecture", script("riscv", greet(`{"Version":"weft v0","OS":"linux","Arch":"riscv64"}`)),
			`host h1: it is "linux/riscv64", and the program is for "linux/`},
	} {
		out, errs, status := c.run("-n", "1", "-rsh", k.rsh, "-hosts", "h1", hello)
		if status == 0 || !strings.Contains(errs, k.want) || strings.Count(errs, "\n") != 1 || out != "" {
			t.Errorf("%s: status %d: %q, %q", k.what, status, errs, out)
		}
	}
}

// The program is copied if it may be, also by way of other hosts, and the copies are removed.
func programIsCopied(t *testing.T, c *cluster) {
	if err := os.Mkdir(c.path("tmp"), 0o700); err != nil {
		t.Fatal(err)
	}
	hello := c.build("weft/examples/hello")
	// Both hosts see the same files: where the copy is wanted, the program is hidden.
	hidden := c.path("hidden") + " %s"
	c.write("hidden", "#!/bin/sh\nhost=$1; shift\nexec ssh -F "+c.path("ssh_config")+
		" -o BatchMode=yes $host \"unshare -m sh -c '"+
		"mount -t tmpfs none "+c.path("only")+"; TMPDIR="+c.path("tmp")+" $*'\"\n")
	if err := os.Chmod(c.path("hidden"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(c.path("only"), 0o700); err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(c.path("only"), "hello")
	if err := os.Rename(hello, program); err != nil {
		t.Fatal(err)
	}
	rsh := strings.TrimSuffix(hidden, " %s")
	if _, errs, status := c.run("-rsh", rsh, "-hosts", "h1:2", program); status == 0 ||
		!strings.Contains(errs, "host h1: there is no program "+program+"; say -copy") {
		t.Errorf("without -copy: status %d: %s", status, errs)
	}
	out, errs, status := c.run("-rsh", rsh, "-hosts", "h1:2,h2", "-fanout", "1", "-copy", program)
	if status != 0 || strings.Count(out, "of 3") != 3 {
		t.Errorf("with -copy: status %d: %s%s", status, out, errs)
	}
}

// Two names of a host are one host for the ranks: they share memory.
func twoNamesOfAHost(t *testing.T, c *cluster) {
	hello := c.build("weft/examples/ping")
	out, errs, status := c.run("-hosts", "h1,g1", hello, "-count", "10")
	if status != 0 || !strings.Contains(out, "over shm") {
		t.Errorf("status %d: %s%s", status, out, errs)
	}
	out, errs, status = c.run("-hosts", "localhost,h1", hello, "-count", "10")
	if status != 0 || !strings.Contains(out, "over udp") {
		t.Errorf("status %d: %s%s", status, out, errs)
	}
}

// More hosts than the fan-out are reached by way of others; where these have no way, by
// the launcher itself.
func TestHostsTree(t *testing.T) {
	netlabtest.AtLength(t)
	c := newCluster(t, 8)
	const hosts = "h0,h1,h2,h3,h4,h5,h6,h7"
	hello := c.build("weft/examples/hello")
	out, errs, status := c.run("-n", "64", "-fanout", "2", "-hosts", hosts, hello)
	if status != 0 || strings.Contains(errs, "weft run") || strings.Count(out, "received") != 64 {
		t.Errorf("status %d: %s%s", status, out, errs)
	}
	c.write("rootonly", "#!/bin/sh\n[ \"$SSH_CONNECTION\" = '' ] || exit 255\nexec ssh -F "+c.path("ssh_config")+
		" -o BatchMode=yes \"$@\"\n")
	if err := os.Chmod(c.path("rootonly"), 0o700); err != nil {
		t.Fatal(err)
	}
	if out, errs, status := c.run("-rsh", c.path("rootonly"), "-n", "16", "-fanout", "2", "-hosts", hosts,
		hello); status != 0 || strings.Contains(errs, "weft run") {
		t.Errorf("handed back: status %d: %s%s", status, out, errs)
	}
}
