package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"weft/internal/sys"
)

// -dry-run says which ranks would run where, and starts nothing.
func TestDryRun(t *testing.T) {
	file := filepath.Join(t.TempDir(), "hosts")
	if err := os.WriteFile(file, []byte("a slots=2 # the big one\nb\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	const rsh = "no-such-command"
	for _, c := range []struct{ args, want string }{
		{"-hosts a,b:4,c", "6 ranks of P x on the hosts of -hosts, by no-such-command\na: rank 0\nb: ranks 1-4\nc: rank 5\n"},
		{"-hosts a,b:4,c -n 2", "2 ranks of P x on the hosts of -hosts, by no-such-command\na: rank 0\nb: rank 1\nc: none\n"},
		{"-hosts node[1-3] -n 8",
			"8 ranks of P x on the hosts of -hosts, by no-such-command\nnode1: ranks 0-2\nnode2: ranks 3-5\nnode3: ranks 6-7\n"},
		{"-hosts a,b:4,c -per-host 2",
			"6 ranks of P x on the hosts of -hosts, by no-such-command\na: ranks 0-1\nb: ranks 2-3\nc: ranks 4-5\n"},
		{"-hostfile " + file, "3 ranks of P x on the hosts of -hostfile, by no-such-command\na: ranks 0-1\nb: rank 2\n"},
		{"-n 3", "3 ranks of P x here\n"},
	} {
		args := append([]string{"run", "-dry-run", "-rsh", rsh}, strings.Fields(c.args)...)
		out, errs, status := runWeft(t, append(args, "P", "x")...)
		if status != 0 || out != c.want || errs != "" {
			t.Errorf("weft run %s: status %d: %q, %q", c.args, status, out, errs)
		}
	}
}

// -x gives the ranks variables.
func TestVariablesForRanks(t *testing.T) {
	t.Setenv("WEFT_TEST_HERE", "from here")
	out, errs, status := runWeft(t, "run", "-n", "2", "-x", "WORD=with blanks", "-x", "WEFT_TEST_HERE", "sh", "-c",
		`echo "$WORD, $WEFT_TEST_HERE"`)
	if want := strings.Repeat("with blanks, from here\n", 2); status != 0 || out != want {
		t.Errorf("status %d: %q, %q", status, out, errs)
	}
}

// -bind-to core gives each rank a core that no other has, and weft info tells which. By default ranks that fit have
// no processor in common, and together they have all.
func TestBindToCore(t *testing.T) {
	cores := sys.Cores()
	out, errs, status := runWeft(t, "run", "-n", "1", "-bind-to", "core", "grep", "Cpus_allowed_list", "/proc/self/status")
	if want := sys.ListCPUs(cores[0]); status != 0 ||
		strings.TrimSpace(strings.TrimPrefix(out, "Cpus_allowed_list:")) != want {
		t.Errorf("status %d: %q, %q, not core %s", status, out, errs, want)
	}
	if len(cores) < 2 {
		t.Skip("one core is not enough for two ranks")
	}
	for _, c := range []struct {
		bind string
		want []string
	}{
		{"core", []string{sys.ListCPUs(cores[0]), sys.ListCPUs(cores[1])}},
		{"part", []string{sys.ListCPUs(slices.Concat(cores[:len(cores)/2]...)),
			sys.ListCPUs(slices.Concat(cores[len(cores)/2:]...))}},
		{"none", []string{sys.ListCPUs(sys.Affinity()), sys.ListCPUs(sys.Affinity())}},
	} {
		out, errs, status = runWeft(t, "info", "-n", "2", "-bind-to", c.bind)
		_, table, _ := strings.Cut(out, "rank  processors")
		var got []string
		for line := range strings.Lines(table) {
			if words := strings.Fields(line); len(words) > 4 && (words[0] == "0" || words[0] == "1") {
				got = append(got, words[1])
			}
		}
		if status != 0 || !slices.Equal(got, c.want) {
			t.Errorf("weft info -bind-to %s: status %d: %q, %s%s", c.bind, status, got, out, errs)
		}
	}
}

func TestProcessors(t *testing.T) {
	for _, c := range []struct {
		cpus []int
		want string
	}{
		{nil, "unknown"},
		{[]int{3}, "3"},
		{[]int{0, 1, 2, 3, 8, 10, 11}, "0-3,8,10-11"},
	} {
		if got := sys.ListCPUs(c.cpus); got != c.want {
			t.Errorf("%v: %q", c.cpus, got)
		}
	}
}

// In a lab the hosts of the lab come before those of a batch system, and that is said.
func TestLabBeforeAllocation(t *testing.T) {
	t.Setenv("SLURM_JOB_ID", "1")
	t.Setenv("SLURM_JOB_NODELIST", "n[1-3]")
	t.Setenv("SLURM_TASKS_PER_NODE", "2(x3)")
	dryRun := func() (stdout, stderr string) {
		out, errs, status := runWeft(t, "run", "-dry-run", "-rsh", "no-such-command", "P")
		if status != 0 {
			t.Errorf("status %d", status)
		}
		return out, errs
	}
	if out, errs := dryRun(); !strings.HasPrefix(out, "6 ranks of P on the hosts of Slurm") || errs != "" {
		t.Errorf("outside: %q, %q", out, errs)
	}
	t.Setenv("WEFT_LAB", "2")
	want := "WEFT_LAB is set, so the ranks run on the hosts of the lab, and not on the 3 hosts that Slurm has allotted"
	if out, errs := dryRun(); strings.Contains(out, "Slurm") || !strings.Contains(errs, want) {
		t.Errorf("in a lab: %q, %q", out, errs)
	}
}
