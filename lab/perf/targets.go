package perf

import (
	"fmt"
	"slices"

	"weft/internal/launch"
)

// A Target is a figure that weft is to reach, nearly always relative to what other systems
// reach in the same run. docs/PERFORMANCE.md lists all targets with the last results.
type Target struct {
	Name    string     // for -only
	What    string     // one line of description
	Ours    Spec       // what weft does
	Against []Baseline // what it is compared with; the best of them counts
	Limit   float64    // of the ratio ours/theirs; of our own figure, in Unit, if Against is empty
	AtLeast bool       // the limit is the least that will do; otherwise it is the most

	system System // what runs Ours; nil stands for Weft
	unit   string // of the limit, if Against is empty
}

// Unit returns the unit of the limit, if the target stands by itself.
func (t Target) Unit() string { return t.unit }

// A Baseline is what a Target is compared with: another system, or weft doing something else.
type Baseline struct {
	System System
	Label  string
	Spec   Spec
}

// spec returns the measurement of one size over the transport that weft chooses by itself.
func spec(test, op string, size int) Spec {
	return Spec{Test: test, Transport: "auto", Op: op, Sizes: []int{size}}
}

// with returns a copy of s with a change.
func (s Spec) with(change func(*Spec)) Spec {
	change(&s)
	return s
}

// systemsDoing returns baselines: other systems that do what s says.
func systemsDoing(s Spec, names ...string) []Baseline {
	var list []Baseline
	for _, name := range names {
		list = append(list, Baseline{System: Find(name), Label: name, Spec: s})
	}
	return list
}

// weftDoing returns a baseline: weft itself, doing what s says.
func weftDoing(label string, s Spec) []Baseline {
	return []Baseline{{System: Weft, Label: label, Spec: s}}
}

// Targets returns all targets that can be measured from here: those between hosts, if this
// process runs in a lab, otherwise those on one host.
func Targets() []Target {
	if hosts, err := launch.LabHosts(); err == nil && len(hosts) >= 2 {
		return slices.Concat(labTargets(), lossyTargets(), sortTargets(len(hosts)))
	}
	return hostTargets()
}

// AllTargets returns all targets, whether they can be measured from here or not.
func AllTargets() []Target {
	const hosts = 4
	return slices.Concat(hostTargets(), labTargets(), lossyTargets(), sortTargets(hosts))
}

// FindTargets returns the targets with the given names, or all of them if no name is given.
func FindTargets(names []string) ([]Target, error) {
	all := Targets()
	if len(names) == 0 {
		return all, nil
	}
	var found []Target
	for _, name := range names {
		i := slices.IndexFunc(all, func(t Target) bool { return t.Name == name })
		if i < 0 {
			return nil, unknownTarget(name, all)
		}
		found = append(found, all[i])
	}
	return found, nil
}

// unknownTarget returns the error for a name that is not among the targets that can be measured here, and says
// where the others can be.
func unknownTarget(name string, all []Target) error {
	where := "here; targets between hosts need a lab: weftlab lab -- weftlab targets"
	if all[0].Ours.Transport == "eth" {
		where = "between the hosts of a lab; targets on one host are measured outside of it"
	}
	return fmt.Errorf("targets: there is no target %q %s", name, where)
}
