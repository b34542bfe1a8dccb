package doctor

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"weft/internal/sys"
)

// Diagnose fills in the findings of the report, the worst first.
func (r *Report) Diagnose() {
	var d diagnosis
	hosts := slices.DeleteFunc(r.Hosts(), func(h *Host) bool { return h.Unheard })
	pairs := r.Pairs()
	for _, h := range hosts {
		d.host(h)
	}
	for _, p := range pairs {
		d.pair(p)
	}
	d.outliers(pairs)
	d.differences(hosts)
	order := map[Weight]int{Stops: 0, Slow: 1, Note: 2}
	slices.SortStableFunc(d.findings, func(a, b Finding) int { return cmp.Compare(order[a.Weight], order[b.Weight]) })
	r.Findings = d.findings
}

// Stops reports whether something would stop a job.
func (r *Report) Stops() bool {
	return slices.ContainsFunc(r.Findings, func(f Finding) bool { return f.Weight == Stops })
}

// A diagnosis collects findings.
type diagnosis struct{ findings []Finding }

// add adds a finding about a host or a pair. If the same was found elsewhere before, it only adds where.
func (d *diagnosis) add(w Weight, where, what, do string) {
	for i := range d.findings {
		f := &d.findings[i]
		if f.Weight == w && f.What == what && f.Do == do {
			f.Where = append(f.Where, where)
			return
		}
	}
	d.findings = append(d.findings, Finding{w, []string{where}, what, do})
}

// Limits below which a host gets a finding.
const (
	fewFiles     = 256  // descriptors of a process: a rank needs some for itself, and some for each peer on its host
	scantFiles   = 4096 // the same, for jobs of many ranks
	fewProcesses = 64   // processes and threads of a user: a rank has a few threads for each processor
)

// host adds the findings about one host.
func (d *diagnosis) host(h *Host) {
	switch {
	case h.Files < fewFiles:
		d.add(Stops, h.Name, fmt.Sprintf("a process may have only %d descriptors", h.Files),
			"raise the limit: ulimit -n 65536, or LimitNOFILE= of the service that starts jobs")
	case h.Files < scantFiles:
		d.add(Note, h.Name, fmt.Sprintf("a process may have %d descriptors: too few for hundreds of ranks on a host",
			h.Files),
			"raise the limit: ulimit -n 65536")
	}
	if h.Processes < fewProcesses {
		d.add(Stops, h.Name, fmt.Sprintf("a user may have only %d processes and threads", h.Processes),
			"raise the limit: ulimit -u 4096; each rank has several threads")
	}
	if h.CPUs > 0 && h.CPUs < 1 {
		d.add(Slow, h.Name, fmt.Sprintf("the ranks may use %.2g of a processor: a cgroup stops them again and again", h.CPUs),
			"give each rank a whole processor")
	}
	if h.Receive > 0 && h.Receive < wantedBuffer/4 {
		d.add(Slow, h.Name, fmt.Sprintf("the receive buffer of UDP is %s, not %s as weft asks for: packets that do not "+
			"fit are lost",
			bytesText(uint64(h.Receive)), bytesText(wantedBuffer)),
			fmt.Sprintf("sysctl -w net.core.rmem_max=%d net.core.wmem_max=%d", wantedBuffer, wantedBuffer))
	}
	if c := h.ClockSource; c != "" && !slices.Contains(fastClocks, c) {
		d.add(Slow, h.Name, "the clock source is "+c+": every look at the clock is a system call, and polling looks often",
			"boot with clocksource=tsc if the processors' counters are constant")
	}
	for _, f := range h.Features {
		if f.Missing != "" {
			d.feature(h, f)
		}
	}
}

// fastClocks are the kernel's clock sources that a process reads without a system call.
var fastClocks = []string{"tsc", "kvm-clock", "arch_sys_counter", "hyperv_clocksource_tsc_page"}

// feature adds a finding about a feature of the kernel that a host lacks.
func (d *diagnosis) feature(h *Host, f sys.Feature) {
	what := fmt.Sprintf("no %s (%s), so no %s", f.Name, f.Missing, f.Use)
	switch f.Name {
	case "AF_PACKET":
		d.add(Note, h.Name, "no CAP_NET_RAW, so no raw Ethernet to other hosts, only UDP",
			"if hosts share a segment: setcap cap_net_raw+ep PROGRAM, or weft k8s -raw")
	case "memfd":
		d.add(Slow, h.Name, what, "use a kernel of 3.17 or newer, and a seccomp profile that allows memfd_create")
	case "process_vm_readv":
		d.add(Slow, h.Name, what, "use a seccomp profile that allows it, as Docker's does from kernel 4.8 on")
	case "epoll_pwait2":
		d.add(Slow, h.Name, what, "use a kernel of 5.11 or newer")
	default:
		d.add(Slow, h.Name, what, "use a kernel of 5.0 or newer")
	}
}

// lossy is the share of packets sent again above which a pair gets a finding.
const lossy = 0.001

// pair adds the findings about the path between two ranks.
func (d *diagnosis) pair(p Pair) {
	where := p.name()
	if why := p.Error(); why != "" {
		d.add(Stops, where, "they do not reach each other: "+why,
			"let UDP pass between the hosts on all ports (firewalls, network policies); WEFT_BIND must be an address "+
				"that the other host reaches, WEFT_INTERFACE an interface on its segment")
		return
	}
	d.path(p, where)
	there := &p.There
	back := &p.Back
	if there.Transport != back.Transport {
		d.add(Slow, where, fmt.Sprintf("%s one way, %s back: %s; %s", there.Transport, back.Transport, there.Why, back.Why),
			"give both hosts the same privileges and interfaces")
	} else if there.Transport == "udp" {
		d.onlyUDP(p, where)
	}
	m := p.There.Measured
	if m == nil {
		return
	}
	if share := float64(m.Resent) / float64(max(m.Packets, 1)); share > lossy {
		d.add(Slow, where, fmt.Sprintf("%.1f %% of the packets had to be sent again", 100*share),
			"look for full buffers (ethtool -S, nstat UdpRcvbufErrors), bad cables and slower links between them")
	}
	if away := m.Offset.Abs() - m.Uncertainty; away.Seconds() > 0.1 {
		apart := m.Offset.Abs().Round(1e6)
		d.add(Note, where, fmt.Sprintf("their clocks are %v apart: times in logs and traces do not match", apart),
			"run chrony or another NTP client on both; weft itself does not compare clocks")
	}
}

// onlyUDP adds a finding about two ranks that use UDP where libfabric or raw Ethernet might do.
func (d *diagnosis) onlyUDP(p Pair, where string) {
	why := p.There.Why
	_, short, ok := strings.Cut(why, "so UDP; ")
	if !ok {
		return // UDP was asked for, or the two share a host
	}
	what := "UDP rather than a faster transport: " + short
	switch {
	case strings.Contains(short, "another subnet"):
		d.add(Note, where, what, "do nothing: a router lies between them")
	case strings.Contains(short, "WEFT_INTERFACE"):
		d.add(Note, where, what, "if the hosts share a segment: WEFT_INTERFACE=eth0, and setcap cap_net_raw+ep PROGRAM")
	default:
		d.add(Note, where, what, "")
	}
}

// path adds a finding about a path that takes shorter packets than the interfaces at its ends.
func (d *diagnosis) path(p Pair, where string) {
	if p.There.Transport != "udp" && p.There.Transport != "eth" {
		return
	}
	least := 0
	for _, h := range []*Host{&p.From.Host, &p.To.Host} {
		widest := 0
		for _, i := range h.Interfaces {
			widest = max(widest, i.MTU)
		}
		if least == 0 || widest < least {
			least = widest
		}
	}
	const heads = 28 // bytes of the IP and UDP headers, which an interface's MTU includes
	mtu := min(p.There.MTU, p.Back.MTU)
	if least > 0 && mtu > 0 && mtu < 60000 && mtu+2*heads < least {
		d.add(Slow, where, fmt.Sprintf("the path takes packets of %d bytes, but the interfaces at its ends take %d", mtu,
			least),
			"find the narrower link (tracepath), or lower the MTU of the interfaces so that all agree")
	}
}

// name names the two ends of a pair.
func (p Pair) name() string {
	if p.From.Host.Name == p.To.Host.Name {
		return fmt.Sprintf("%s (ranks %d, %d)", p.From.Host.Name, p.From.Rank, p.To.Rank)
	}
	return p.From.Host.Name + " – " + p.To.Host.Name
}

// outliers adds findings about pairs that are much slower than most over the same transport.
func (d *diagnosis) outliers(pairs []Pair) {
	const (
		enough = 3 // pairs over a transport to compare with
		much   = 3 // times slower than the median
	)
	by := map[string][]Pair{}
	var names []string
	for _, p := range pairs {
		if t := p.There.Transport; p.There.Measured != nil {
			if by[t] == nil {
				names = append(names, t)
			}
			by[t] = append(by[t], p)
		}
	}
	for _, name := range names {
		group := by[name]
		if len(group) < enough {
			continue
		}
		latency := median(group, func(p Pair) float64 { return p.There.Latency.Seconds() * 1e6 })
		bandwidth := median(group, func(p Pair) float64 { return p.There.Bandwidth })
		for _, p := range group {
			if l := p.There.Latency.Seconds() * 1e6; l > much*latency {
				d.add(Slow, p.name(), fmt.Sprintf("a latency of %.1f µs; the median over %s is %.1f µs", l, name, latency),
					"look at what lies between the two hosts, and what else runs on them")
			}
			if b := p.There.Bandwidth; b*much < bandwidth {
				d.add(Slow, p.name(), fmt.Sprintf("a bandwidth of %.0f MB/s; the median over %s is %.0f MB/s", b, name, bandwidth),
					"look at the speed of the link (ethtool), and what else runs on the two hosts")
			}
		}
	}
}

// median returns the median of a value of each pair.
func median(pairs []Pair, of func(Pair) float64) float64 {
	var all []float64
	for _, p := range pairs {
		all = append(all, of(p))
	}
	slices.Sort(all)
	return all[len(all)/2]
}
