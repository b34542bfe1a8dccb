package hostlist

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestAllocated(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for _, c := range []struct {
		env  string // NAME=VALUE with blanks between them; _ stands for a blank
		want string
	}{
		{"", "{ []}"},
		{"SLURM_JOB_ID=1 SLURM_JOB_NODELIST=n[1-3] SLURM_TASKS_PER_NODE=4,1(x2)", "{Slurm [{n1 4} {n2 1} {n3 1}]}"},
		{"SLURM_JOB_ID=1 SLURM_JOB_NODELIST=n[1-2] SLURM_JOB_CPUS_PER_NODE=8(x2)", "{Slurm [{n1 8} {n2 8}]}"},
		{"SLURM_JOB_ID=1 SLURM_JOB_NODELIST=n1", "{Slurm [{n1 0}]}"},
		{"SLURM_JOB_ID=1 SLURM_JOB_NODELIST=n[1-3] SLURM_TASKS_PER_NODE=4", "has 1 counts for the 3 nodes"},
		{"PBS_NODEFILE=" + file("pbs", "a\na\nb\n"), "{PBS [{a 2} {b 0}]}"},
		{"PBS_NODEFILE=" + filepath.Join(dir, "missing"), "no such file"},
		{"LSB_MCPU_HOSTS=a_4_b_2", "{LSF [{a 4} {b 2}]}"},
		{"LSB_MCPU_HOSTS=a_4_b", "no list of names and slots"},
		{"PE_HOSTFILE=" + file("sge", "a 2 all.q@a UNDEFINED\nb 3 all.q@b UNDEFINED\n"), "{Grid Engine [{a 2} {b 3}]}"},
		{"OMPI_MCA_orte_default_hostfile=" + file("k8s",
			"job-worker-0.job.ns.svc slots=2\njob-worker-1.job.ns.svc slots=2\n"),
			"{OMPI_MCA_orte_default_hostfile [{job-worker-0.job.ns.svc 2} {job-worker-1.job.ns.svc 2}]}"},
		{"HYDRA_HOST_FILE=" + file("hydra", "w-0:2\nw-1:2\n"), "{HYDRA_HOST_FILE [{w-0 2} {w-1 2}]}"},
	} {
		env := map[string]string{}
		for _, word := range strings.Fields(c.env) {
			name, value, _ := strings.Cut(word, "=")
			if name == "LSB_MCPU_HOSTS" {
				value = strings.ReplaceAll(value, "_", " ")
			}
			env[name] = value
		}
		a, err := Allocated(func(name string) string { return env[name] })
		if got := fmt.Sprint(a); got != c.want && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %s, %v, not %s", c.env, got, err, c.want)
		}
	}
}
