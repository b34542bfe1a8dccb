package doctor

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// A trait is a property that should be the same on all hosts.
type trait struct {
	name   string
	weight Weight
	of     func(h *Host) string
	do     string
}

var traits = []trait{
	{"version of weft", Stops, func(h *Host) string { return h.Weft },
		"install one version on all hosts: ranks of different versions may not understand each other"},
	{"architecture", Note, func(h *Host) string { return h.Machine },
		"build the program for each architecture, and put it at the same path"},
	{"kernel", Note, func(h *Host) string { return h.Kernel }, ""},
	{"number of processors", Note, func(h *Host) string { return fmt.Sprint(h.Processors) },
		"give larger hosts more ranks: with the same number on each, all wait for the smallest host"},
	{"number of processors for a rank", Slow, func(h *Host) string { return fmt.Sprintf("%.3g", h.CPUs) },
		"set the same affinity and quota on all hosts"},
	{"CAP_NET_RAW", Slow, func(h *Host) string { return yes(h.Raw) },
		"grant it on both hosts: raw Ethernet needs it at both ends"},
	{"limit of descriptors", Note, func(h *Host) string { return limit(h.Files) }, ""},
	{"limit of processes", Note, func(h *Host) string { return limit(h.Processes) }, ""},
}

// differences adds findings about traits that differ between hosts.
func (d *diagnosis) differences(hosts []*Host) {
	for _, t := range traits {
		d.differ(t, hosts)
	}
	for _, machine := range values(hosts, func(h *Host) string { return h.Machine }) {
		alike := slices.DeleteFunc(slices.Clone(hosts), func(h *Host) bool { return h.Machine != machine })
		d.differ(trait{"file of the program", Note, func(h *Host) string { return h.Binary },
			"install the same file on all hosts of an architecture"}, alike)
	}
	for _, name := range interfaceNames(hosts) {
		having := slices.DeleteFunc(slices.Clone(hosts), func(h *Host) bool { return h.find(name) == nil })
		d.differ(trait{"MTU of " + name, Slow, func(h *Host) string { return fmt.Sprint(h.find(name).MTU) },
			"set the same on all hosts: packets between two hosts are as long as the smaller MTU allows"}, having)
		d.differ(trait{"speed of " + name, Slow, func(h *Host) string { return speed(h.find(name).Mbps) }, ""}, having)
	}
}

// differ adds a finding if a trait is not the same on all hosts: it lists the hosts with each value.
func (d *diagnosis) differ(t trait, hosts []*Host) {
	groups := map[string][]string{}
	var values []string // the most frequent first
	for _, h := range hosts {
		v := t.of(h)
		if groups[v] == nil {
			values = append(values, v)
		}
		groups[v] = append(groups[v], h.Name)
	}
	if len(values) < 2 {
		return
	}
	slices.SortStableFunc(values, func(a, b string) int { return len(groups[b]) - len(groups[a]) })
	var parts, odd []string
	for i, v := range values {
		text := v
		if text == "" {
			text = "none"
		}
		parts = append(parts, text+" on "+few(groups[v]))
		if i > 0 {
			odd = append(odd, groups[v]...)
		}
	}
	d.findings = append(d.findings, Finding{t.weight, odd, t.name + " differs: " + strings.Join(parts, "; "), t.do})
}

// few names the first hosts of a list, and says how many more there are.
func few(names []string) string {
	const most = 4
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}

// values returns the values of a property of the hosts, each once.
func values(hosts []*Host, of func(h *Host) string) []string {
	all := map[string]bool{}
	for _, h := range hosts {
		all[of(h)] = true
	}
	return slices.Sorted(maps.Keys(all))
}

// interfaceNames returns the names of the hosts' interfaces.
func interfaceNames(hosts []*Host) []string {
	names := map[string]bool{}
	for _, h := range hosts {
		for _, i := range h.Interfaces {
			names[i.Name] = true
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// find returns an interface by its name, or nil.
func (h *Host) find(name string) *Interface {
	for i := range h.Interfaces {
		if h.Interfaces[i].Name == name {
			return &h.Interfaces[i]
		}
	}
	return nil
}

// missing lists the features that the host does not have.
func (h *Host) missing() string {
	var names []string
	for _, f := range h.Features {
		if f.Missing != "" {
			names = append(names, f.Name)
		}
	}
	return strings.Join(names, " ")
}
