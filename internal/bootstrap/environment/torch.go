package environment

import (
	"fmt"
	"net"
	"strconv"
	"strings"
)

// masterPort is where PyTorch's ranks meet if nothing says otherwise.
const masterPort = "29500"

// master adds where rank 0 is: MASTER_ADDR and MASTER_PORT, or the same with a prefix. The port is
// taken where an agent of torchrun serves a store of its own there; then, and where another
// process has it, ports that follow from the label are tried.
func (p *Plan) master(e Environment, prefix string) error {
	host := e.Get(prefix + "MASTER_ADDR")
	port := e.Get(prefix + "MASTER_PORT")
	if host == "" {
		if p.Size > 1 && e.Get(EnvRendezvous) == "" {
			return &MissingVariable{prefix + "MASTER_ADDR",
				"where is rank 0? Set it, or " + EnvRendezvous + ", to its host in all ranks"}
		}
		return nil
	}
	if port == "" {
		port = masterPort
	}
	n, err := strconv.Atoi(port)
	if err != nil || n < 1 || n > 65535 {
		return fmt.Errorf("%sMASTER_PORT=%q: must be a port", prefix, port)
	}
	p.Label = fmt.Sprintf("%s at %s", p.Label, net.JoinHostPort(host, strconv.Itoa(n)))
	p.Hosts = []string{host}
	if e.Get("TORCHELASTIC_USE_AGENT_STORE") != "True" {
		p.Ports = []int{n}
	}
	p.Ports = append(p.Ports, portsOf(p.Label)...)
	return nil
}

// readTorch reads what torchrun and others that start PyTorch programs set.
func readTorch(e Environment) (p Plan, err error) {
	if p.Rank, err = e.number("RANK"); err != nil {
		return p, err
	}
	if p.Size, err = e.number("WORLD_SIZE"); err != nil {
		return p, err
	}
	p.Label = "torch"
	if id := e.Get("TORCHELASTIC_RUN_ID"); id != "" {
		p.Label = fmt.Sprintf("torchrun %s, start %s", id, e.Get("TORCHELASTIC_RESTART_COUNT"))
	}
	return p, p.master(e, "")
}

// readPET reads what Kubeflow's Trainer sets for torchrun, where the program runs in its place: one
// process on each node.
func readPET(e Environment) (p Plan, err error) {
	if p.Rank, err = e.number("PET_NODE_RANK"); err != nil {
		return p, err
	}
	if each := e.Get("PET_NPROC_PER_NODE"); each != "" && each != "1" {
		return p, fmt.Errorf("PET_NPROC_PER_NODE=%s: torchrun would start as many on each node, and this process is the "+
			"only one here: "+
			"set it to 1, or let torchrun --no-python start the program", each)
	}
	nodes := e.Get("PET_NNODES")
	if least, most, ok := strings.Cut(nodes, ":"); ok {
		if least != most {
			return p, fmt.Errorf("PET_NNODES=%s: a job of weft has a fixed size: set it to one number", nodes)
		}
		nodes = least
	}
	if nodes == "" {
		return p, &MissingVariable{Name: "PET_NNODES"}
	}
	if p.Size, err = strconv.Atoi(nodes); err != nil || p.Size < 0 || p.Size > maxSize {
		return p, fmt.Errorf("PET_NNODES=%q: must be a number from 1 to %d", nodes, maxSize)
	}
	p.Label = "pet"
	return p, p.master(e, "PET_")
}
