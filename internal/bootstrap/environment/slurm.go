package environment

import (
	"cmp"
	"fmt"
	"strings"
)

// readSlurm reads what srun sets for the tasks of a step. A batch script has some of these
// variables too, but is no step.
func readSlurm(e Environment) (p Plan, err error) {
	if p.Rank, err = e.number("SLURM_PROCID", maxSize); err != nil {
		return p, err
	}
	size := "SLURM_STEP_NUM_TASKS"
	if e.Get(size) == "" {
		size = "SLURM_NTASKS"
	}
	if p.Size, err = e.number(size, maxSize); err != nil {
		return p, err
	}
	p.Label = fmt.Sprintf("slurm %s.%s, start %s", cmp.Or(e.Get("SLURM_JOB_ID"), e.Get("SLURM_JOBID")),
		e.Get("SLURM_STEP_ID"), cmp.Or(e.Get("SLURM_RESTART_COUNT"), "0"))
	list := cmp.Or(e.Get("SLURM_STEP_NODELIST"), e.Get("SLURM_JOB_NODELIST"), e.Get("SLURM_NODELIST"))
	if list == "" {
		return p, &MissingVariable{Name: "SLURM_STEP_NODELIST"}
	}
	first, err := firstHost(list)
	if err != nil {
		return p, fmt.Errorf("SLURM_STEP_NODELIST=%q: %w", list, err)
	}
	p.Hosts = []string{first}
	if e.Get("SLURM_NODEID") == "0" {
		p.Hosts = append(p.Hosts, "127.0.0.1") // rank 0 is here, too
	}
	if a := e.Get("SLURM_LAUNCH_NODE_IPADDR"); a != "" { // in a batch job srun runs on the first node
		p.Hosts = append(p.Hosts, a)
	}
	p.Ports = portsOf(p.Label)
	return p, nil
}

// firstHost returns the first host of a list such as n[1-3,7],b2: task 0 runs there.
func firstHost(list string) (string, error) {
	open := strings.IndexAny(list, "[,")
	if open < 0 {
		return list, nil
	}
	if list[open] == ',' {
		return list[:open], nil
	}
	end := strings.IndexByte(list[open:], ']')
	if end < 0 {
		return "", fmt.Errorf("must be a list of hosts such as n[1-3],m")
	}
	inside, rest := list[open+1:open+end], list[open+end+1:]
	number := inside
	if at := strings.IndexAny(inside, "-,"); at >= 0 {
		number = inside[:at]
	}
	tail, err := firstHost(rest)
	if strings.HasPrefix(rest, ",") {
		tail = ""
	}
	return list[:open] + number + tail, err
}
