package hostlist

import (
	"fmt"
	"os"
	"strings"
)

// An Allocation is the hosts that a batch system has allocated to a job.
type Allocation struct {
	By    string // the batch system: Slurm, PBS, LSF, Grid Engine, or a hostfile's variable
	Hosts []Host
}

// maxFile bounds how much of a batch system's file is read.
const maxFile = 16 << 20

// Allocated returns the hosts of the allocation that this process runs in, by the variables of its environment, or none
// if there is no allocation. The variables of batch systems count first, then those of three MPIs in which Kubernetes'
// MPI operator names host files.
func Allocated(getenv func(string) string) (a Allocation, err error) {
	switch {
	case getenv("SLURM_JOB_ID") != "" && getenv("SLURM_JOB_NODELIST") != "":
		a.By = "Slurm"
		a.Hosts, err = slurm(getenv)
	case getenv("PBS_NODEFILE") != "":
		a.By = "PBS"
		a.Hosts, err = readFile(getenv("PBS_NODEFILE"))
	case getenv("LSB_MCPU_HOSTS") != "":
		a.By = "LSF"
		a.Hosts, err = pairs(getenv("LSB_MCPU_HOSTS"))
	case getenv("PE_HOSTFILE") != "":
		a.By = "Grid Engine"
		a.Hosts, err = gridEngine(getenv("PE_HOSTFILE"))
	default:
		for _, name := range []string{"OMPI_MCA_orte_default_hostfile", "HYDRA_HOST_FILE", "I_MPI_HYDRA_HOST_FILE"} {
			if file := getenv(name); file != "" {
				a.By = name
				a.Hosts, err = readFile(file)
				break
			}
		}
	}
	if err != nil {
		return Allocation{},
			fmt.Errorf("weft: the hosts that %s has given: %s", a.By, strings.TrimPrefix(err.Error(), "weft: "))
	}
	a.Hosts = Merge(a.Hosts)
	return a, nil
}

// slurm reads Slurm's variables. A node has as many slots as tasks, or as processors if no tasks were asked for.
func slurm(getenv func(string) string) ([]Host, error) {
	names, err := Expand(getenv("SLURM_JOB_NODELIST"))
	if err != nil {
		return nil, err
	}
	name := "SLURM_TASKS_PER_NODE"
	if getenv(name) == "" {
		name = "SLURM_JOB_CPUS_PER_NODE"
	}
	slots := make([]int, len(names))
	if text := getenv(name); text != "" {
		if slots, err = Counts(text); err != nil {
			return nil, err
		}
		if len(slots) != len(names) {
			return nil, fmt.Errorf("%s=%s has %d counts for the %d nodes of SLURM_JOB_NODELIST=%s",
				name, quote(text), len(slots), len(names), quote(getenv("SLURM_JOB_NODELIST")))
		}
	}
	hosts := make([]Host, len(names))
	for i := range names {
		hosts[i] = Host{names[i], slots[i]}
	}
	return hosts, nil
}

// readFile reads a file of hosts.
func readFile(name string) ([]Host, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return ParseFile(name, f)
}

// pairs reads names and slots in turn, with blanks between them.
func pairs(text string) (hosts []Host, err error) {
	words := strings.Fields(text)
	if len(words)%2 != 0 || len(words) == 0 || len(words)/2 > MaxHosts {
		return nil, fmt.Errorf("%s is no list of names and slots", quote(text))
	}
	for ; len(words) > 0; words = words[2:] {
		slots, err := count(words[1], MaxSlots)
		if err == nil {
			err = check(words[0])
		}
		if err != nil || slots == 0 {
			return nil, fmt.Errorf("%s %s is no name with a number of slots", quote(words[0]), quote(words[1]))
		}
		hosts = append(hosts, Host{words[0], slots})
	}
	return hosts, nil
}

// gridEngine reads a file with one host on each line: its name, its slots, a queue and processors.
func gridEngine(name string) ([]Host, error) {
	info, err := os.Stat(name)
	if err == nil && info.Size() > maxFile {
		err = fmt.Errorf("%s has more than %d bytes", name, maxFile)
	}
	if err != nil {
		return nil, err
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	var words []string
	for line := range strings.Lines(string(text)) {
		if f := strings.Fields(line); len(f) >= 2 {
			words = append(words, f[:2]...)
		}
	}
	return pairs(strings.Join(words, " "))
}
