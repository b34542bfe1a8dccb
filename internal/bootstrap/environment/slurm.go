package environment

import (
	"cmp"
	"errors"
	"fmt"

	"weft/internal/hostlist"
)

// readSlurm reads what srun sets for the tasks of a step. A batch script has some of these
// variables too, but is no step.
func readSlurm(e Environment) (p Plan, err error) {
	if p.Rank, err = e.number("SLURM_PROCID"); err != nil {
		return p, err
	}
	size := "SLURM_STEP_NUM_TASKS"
	if e.Get(size) == "" {
		size = "SLURM_NTASKS"
	}
	if p.Size, err = e.number(size); err != nil {
		return p, err
	}
	p.Label = fmt.Sprintf("slurm %s.%s, start %s", cmp.Or(e.Get("SLURM_JOB_ID"), e.Get("SLURM_JOBID")),
		e.Get("SLURM_STEP_ID"), cmp.Or(e.Get("SLURM_RESTART_COUNT"), "0"))
	list := cmp.Or(e.Get("SLURM_STEP_NODELIST"), e.Get("SLURM_JOB_NODELIST"), e.Get("SLURM_NODELIST"))
	if list == "" {
		return p, &MissingVariable{Name: "SLURM_STEP_NODELIST"}
	}
	hosts, err := hostlist.Expand(list)
	if err == nil && len(hosts) == 0 {
		err = errors.New("it names no host")
	}
	if err != nil {
		return p, fmt.Errorf("SLURM_STEP_NODELIST=%q: %w", list, err)
	}
	p.Host = e.Get("SLURMD_NODENAME")
	p.Hosts = hosts[:1] // task 0 runs there
	if e.Get("SLURM_NODEID") == "0" {
		p.Hosts = append(p.Hosts, "127.0.0.1") // rank 0 is here, too
	}
	if a := e.Get("SLURM_LAUNCH_NODE_IPADDR"); a != "" { // in a batch job srun runs on the first node
		p.Hosts = append(p.Hosts, a)
	}
	p.Ports = portsOf(p.Label)
	return p, nil
}
