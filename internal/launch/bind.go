package launch

import (
	"cmp"
	"fmt"
	"slices"
)

// A Binding says which processors a rank may run on.
type Binding uint8

// The bindings.
const (
	// ToParts divides the processors of a machine among the job's ranks there, if each gets one at least. A kernel that
	// sees two ranks wake each other may leave both on one processor for seconds, while another is idle.
	ToParts Binding = iota
	ToCores         // each rank has a core that no other rank of the job has
	Unbound         // ranks run where the kernel lets them
)

// procsEnv is by which Go's runtime is told how many threads run Go code.
const procsEnv = "GOMAXPROCS"

// bindings are the bindings by the names that users know.
var bindings = map[string]Binding{"part": ToParts, "core": ToCores, "none": Unbound}

// ParseBinding returns the binding of a name.
func ParseBinding(name string) (Binding, error) {
	b, ok := bindings[name]
	if !ok {
		return 0, fmt.Errorf("-bind-to %q: must be part, core or none", name)
	}
	return b, nil
}

// processors are those of the machine on which a rank runs.
type processors struct {
	name  string  // ranks with the same have these processors in common
	cores [][]int // see sys.Cores; nil if they are not known
	most  float64 // see sys.CPUs
}

// bind gives each place its processors.
// A rank that has one processor gets two threads that run Go code, unless the user has chosen a number: with one, a
// goroutine that computes would keep the goroutines that serve the peers from running, and the kernel could not help.
func (b Binding) bind(places []place, procs string) error {
	if b == Unbound {
		return nil
	}
	machines := map[string][]*place{}
	for i := range places {
		p := &places[i]
		machines[p.processors.name] = append(machines[p.processors.name], p)
	}
	for _, on := range machines {
		shares := b.divide(on[0].processors, len(on))
		if shares == nil && b == ToCores {
			return fmt.Errorf("weft: host %s: -bind-to core: %d ranks are more than the %d cores there", on[0].name,
				len(on), len(on[0].processors.cores))
		}
		for i, cpus := range shares {
			on[i].cpus = cpus
			if len(cpus) == 1 && procs == "" {
				on[i].env = append(slices.Clone(on[i].env), procsEnv+"=2")
			}
		}
	}
	return nil
}

// divide returns the processors of each of n ranks, or nil if the ranks are not bound. Ranks that have parts get
// neighbouring cores, and no other rank of the job gets these; if there are fewer cores than ranks they get hardware
// threads. More ranks than a control group allows processors are not bound, nor is a single one.
func (b Binding) divide(p processors, n int) (shares [][]int) {
	units := p.cores
	switch {
	case b == ToCores:
		if n <= len(units) {
			shares = slices.Clone(units[:n])
		}
		return shares
	case n < 2 || float64(n) > p.most:
		return nil
	case n > len(units):
		units = nil
		for _, core := range p.cores {
			units = append(units, slices.Collect(slices.Chunk(core, 1))...)
		}
	}
	if n > len(units) {
		return nil
	}
	for i := range n {
		shares = append(shares, slices.Concat(units[i*len(units)/n:(i+1)*len(units)/n]...))
	}
	return shares
}

// on returns the processors of a site.
func (s *site) on() processors {
	return processors{fmt.Sprint(cmp.Or(s.where.Machine, s.name), s.cores), s.cores, s.cpus}
}
