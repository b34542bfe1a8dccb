package doctor

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// WriteText writes the report as a page.
func (r *Report) WriteText(w io.Writer) error {
	var t page
	hosts := r.Hosts()
	t.printf("%s, %s\n\n", count(len(hosts), "host"), count(len(r.Ranks), "rank"))
	t.hosts(hosts)
	t.interfaces(hosts)
	t.pairs(r.Pairs())
	t.findings(r.Findings)
	_, err := t.WriteTo(w)
	return err
}

// A page is a report that is being written, to memory: nothing of it can fail.
type page struct{ bytes.Buffer }

func (t *page) printf(format string, args ...any) { fmt.Fprintf(t, format, args...) }

// table writes rows in columns.
func (t *page) table(heads string, rows func(row func(cells ...string))) {
	columns := tabwriter.NewWriter(t, 0, 0, 2, ' ', 0)
	line := func(cells ...string) {
		fmt.Fprintln(columns, strings.TrimRight(strings.Join(cells, "\t"), "\t "))
	}
	line(heads)
	rows(line)
	columns.Flush()
	t.printf("\n")
}

func (t *page) hosts(hosts []*Host) {
	const heads = "host\tweft\tkernel\tprocessors\tmemory\tdescriptors\tprocesses\tUDP buffer\tCAP_NET_RAW\tmissing"
	t.table(heads, func(row func(...string)) {
		for _, h := range hosts {
			if h.Unheard {
				row(h.Name, "nothing is known")
				continue
			}
			missing := h.missing()
			if missing == "" {
				missing = "nothing"
			}
			cpus := fmt.Sprintf("%.3g of %d", h.CPUs, h.Processors)
			row(h.Name, h.Weft, h.Kernel+" "+h.Machine, cpus, bytesText(h.Memory),
				limit(h.Files), limit(h.Processes), bytesText(uint64(h.Receive)), yes(h.Raw), missing)
		}
	})
}

func (t *page) interfaces(hosts []*Host) {
	t.table("host\tinterface\tMTU\tspeed", func(row func(...string)) {
		for _, h := range hosts {
			for _, i := range h.Interfaces {
				row(h.Name, i.Name, fmt.Sprint(i.MTU), speed(i.Mbps))
			}
		}
	})
}

func (t *page) pairs(pairs []Pair) {
	if len(pairs) == 0 {
		return
	}
	t.table("between\ttransport\tpacket\tguard\tlatency\tbandwidth\tclock ahead\twhy this transport",
		func(row func(...string)) {
			for _, p := range pairs {
				if why := p.Error(); why != "" {
					row(p.name(), "none", "", "", "", "", "", why)
					continue
				}
				a := p.There
				guard := a.Guard
				if guard == "" {
					guard = "–"
				}
				cells := []string{p.name(), a.Transport, fmt.Sprintf("%d B", min(a.MTU, p.Back.MTU)), guard}
				if m := a.Measured; m != nil {
					clock := fmt.Sprintf("%s ± %s", micros(m.Offset), micros(m.Uncertainty))
					cells = append(cells, micros(m.Latency), fmt.Sprintf("%.0f MB/s", m.Bandwidth), clock)
				} else {
					cells = append(cells, "–", "–", "–")
				}
				row(append(cells, a.Why)...)
			}
		})
}

// findings writes the findings, the worst first.
func (t *page) findings(all []Finding) {
	heads := []struct {
		weight Weight
		text   string
	}{{Stops, "would stop a job"}, {Slow, "makes jobs slower than they could be"}, {Note, "good to know"}}
	for _, head := range heads {
		first := true
		for _, f := range all {
			if f.Weight != head.weight {
				continue
			}
			if first {
				t.printf("%s:\n", head.text)
			}
			first = false
			t.printf("  %s: %s\n", few(f.Where), f.What)
			if f.Do != "" {
				t.printf("      → %s\n", f.Do)
			}
		}
	}
	if len(all) == 0 {
		t.printf("everything is as it should be\n")
	}
}
