package environment

import (
	"fmt"
	"net"
	"strconv"
)

// masterPort is where PyTorch's ranks meet if nothing says otherwise.
const masterPort = "29500"

// master adds where rank 0 is: MASTER_ADDR and MASTER_PORT. The port is
// taken where an agent of torchrun serves a store of its own there; then, and where another
// process has it, ports that follow from the label are tried.
func (p *Plan) master(e Environment) error {
	host := e.Get("MASTER_ADDR")
	port := e.Get("MASTER_PORT")
	if host == "" {
		if p.Size > 1 && e.Get(EnvRendezvous) == "" {
			return &MissingVariable{"MASTER_ADDR",
				"where is rank 0? Set it, or " + EnvRendezvous + ", to its host in all ranks"}
		}
		return nil
	}
	if port == "" {
		port = masterPort
	}
	n, err := strconv.Atoi(port)
	if err != nil || n < 1 || n > 65535 {
		return fmt.Errorf("MASTER_PORT=%q: must be a port", port)
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
	if p.Rank, err = e.number("RANK", maxSize); err != nil {
		return p, err
	}
	if p.Size, err = e.number("WORLD_SIZE", maxSize); err != nil {
		return p, err
	}
	p.Label = "torch"
	if id := e.Get("TORCHELASTIC_RUN_ID"); id != "" {
		p.Label = fmt.Sprintf("torchrun %s, start %s", id, e.Get("TORCHELASTIC_RESTART_COUNT"))
	}
	return p, p.master(e)
}
