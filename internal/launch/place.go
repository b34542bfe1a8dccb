package launch

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"

	"weft/internal/agent"
	"weft/internal/process"
	"weft/internal/sys"
)

// A place is where a rank runs.
type place struct {
	host      host
	name      string   // of the host; ranks with the same name may share memory
	container string   // ranks with the same container share processors: see sys.Identity
	lab       Host     // in a lab: the host
	env       []string // added to the rank's environment
	cpus      []int    // processors that the rank is bound to, or nil: those of the machine
	reply     agent.Reply

	processors processors // of the machine
}

// program returns the path of the program on the host.
func (p place) program(here string) string {
	if p.reply.Program != "" {
		return p.reply.Program
	}
	return here
}

// crowd returns how many ranks share the processors that this one may use. All says how many there are in each
// container.
func (p place) crowd(all map[string]int) int {
	if n := all[p.container]; p.cpus == nil || float64(n) > p.processors.most {
		return n
	}
	return 1
}

// places opens the hosts of the job, and returns the place of each rank.
func (r *Running) places(ctx context.Context, signals <-chan os.Signal) ([]place, error) {
	local, err := process.Open("")
	if err != nil {
		return nil, err
	}
	r.hosts = append(r.hosts, local)
	var all []place
	if len(r.job.Hosts) > 0 {
		all, err = r.onHosts(ctx, local, signals)
	} else {
		all, err = r.pretended(local)
	}
	if err == nil {
		err = r.job.Bind.bind(all, cmp.Or(r.variable(procsEnv), os.Getenv(procsEnv)))
	}
	return all, err
}

// pretended places the ranks on this host, or in turn on the hosts of the lab or on pretended hosts.
func (r *Running) pretended(local host) (places []place, err error) {
	var lab []Host
	if r.job.Pretend <= 1 {
		if lab, err = LabHosts(); err != nil {
			return nil, err
		}
	}
	name := hostname()
	here := processors{name, sys.Cores(), sys.CPUs()}
	hosts := min(max(r.job.Pretend, len(lab), 1), r.job.N)
	for i := range r.job.N {
		p := place{host: local, name: name, container: name, processors: here}
		switch h := i % hosts; {
		case len(lab) > 0:
			p.lab = lab[h]
			p.name = filepath.Base(lab[h].Namespace)
			p.env = []string{"WEFT_INTERFACE=" + p.lab.Interface, "WEFT_BIND=" + p.lab.Address}
		case hosts > 1:
			p.name = fmt.Sprintf("%s.%d", name, h)
		}
		places = append(places, p)
	}
	return places, nil
}

func hostname() string {
	name, err := os.Hostname()
	if err != nil {
		return "localhost"
	}
	return name
}
