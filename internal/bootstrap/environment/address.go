package environment

import (
	"hash/fnv"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"weft/internal/sys"
)

// splitPort splits HOST:PORT, HOST, or an IPv6 address in brackets or without a port.
func splitPort(text string, port int) (string, int, error) {
	if a, err := netip.ParseAddr(text); err == nil {
		return a.String(), port, nil
	}
	host := text
	p := ""
	if strings.Contains(text, ":") {
		var err error
		if host, p, err = net.SplitHostPort(text); err != nil {
			return "", 0, errPort
		}
		n, err := strconv.Atoi(p)
		if err != nil || n < 1 || n > 65535 {
			return "", 0, errPort
		}
		port = n
	}
	if host == "" || strings.ContainsAny(host, "/ @") {
		return "", 0, errPort
	}
	return host, port, nil
}

// Ports for jobs of which nobody has said one: they follow from the job's label, so that two
// jobs on a host rarely want the same, and are none that systems give to connections by
// themselves.
const (
	firstPort = 61100
	morePorts = 4400
	tries     = 8
)

// portsOf returns the ports of a job, in the order in which rank 0 tries them.
func portsOf(label string) (ports []int) {
	h := fnv.New64a()
	h.Write([]byte(label))
	for n := h.Sum64(); len(ports) < tries; n = n*6364136223846793005 + 1442695040888963407 {
		if port := firstPort + int(n>>33)%morePorts; !slices.Contains(ports, port) {
			ports = append(ports, port)
		}
	}
	return ports
}

// addresses returns the addresses at which rank 0 may serve.
func (p *Plan) addresses() (all []string) {
	for _, host := range p.Hosts {
		for _, port := range p.Ports {
			all = append(all, net.JoinHostPort(host, strconv.Itoa(port)))
		}
	}
	return all
}

// mostAddresses is how many of its addresses a host publishes.
const mostAddresses = 8

// ownAddresses returns the addresses of this host, without the loopback's.
func ownAddresses() (all []string) {
	own, _ := sys.Addresses("") // without any, others look elsewhere
	for _, p := range own {
		if a := p.Addr(); !a.IsLoopback() && !a.IsLinkLocalUnicast() && len(all) < mostAddresses {
			all = append(all, a.String())
		}
	}
	return all
}

// nearFirst sorts addresses: those in a network of this host come first.
func nearFirst(all []string) []string {
	own, _ := sys.Addresses("") // without any, the order stays
	far := func(text string) int {
		a, err := netip.ParseAddr(text)
		if err == nil && slices.ContainsFunc(own, func(p netip.Prefix) bool { return p.Contains(a.Unmap()) }) {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(all, func(a, b string) int { return far(a) - far(b) })
	return all
}
