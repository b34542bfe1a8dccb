package doctor

import (
	"time"

	"weft/internal/sys"
)

// A Report describes hosts and the paths between them.
type Report struct {
	Ranks    []Rank    `json:"ranks"`
	Findings []Finding `json:"findings"` // the worst first
}

// A Rank is what one rank has found out about its host, and about its paths to the other ranks.
type Rank struct {
	Rank  int    `json:"rank"`
	Host  Host   `json:"host"`
	Peers []Peer `json:"peers"` // in the order of their ranks
}

// A Host is what a rank has found out about the host that it runs on.
type Host struct {
	Name        string        `json:"name"`
	Unheard     bool          `json:"unheard,omitempty"` // its rank did not report: nothing else is known
	Weft        string        `json:"weft"`              // version of this program
	Binary      string        `json:"binary"`            // first bytes of the program's SHA-256
	Kernel      string        `json:"kernel"`            // release
	Machine     string        `json:"machine"`           // architecture, as uname says it
	Processors  int           `json:"processors"`
	CPUs        float64       `json:"cpus"` // processors that this process may use, by affinity and quota
	Memory      uint64        `json:"memory_bytes"`
	ClockSource string        `json:"clock_source,omitempty"`
	User        int           `json:"user"`
	Raw         bool          `json:"cap_net_raw"`
	Files       uint64        `json:"limit_files"` // 2^64-1 means unlimited, here and in the next
	Processes   uint64        `json:"limit_processes"`
	Receive     int           `json:"udp_receive_buffer_bytes"`
	Send        int           `json:"udp_send_buffer_bytes"`
	Features    []sys.Feature `json:"features"`
	Interfaces  []Interface   `json:"interfaces"`
}

// An Interface is a network interface of a host.
type Interface struct {
	Name string `json:"name"`
	MTU  int    `json:"mtu"`
	Mbps int    `json:"mbit_s,omitempty"` // 0 if unknown
}

// A Peer is the path from a rank to another one.
type Peer struct {
	Rank      int    `json:"rank"`
	Transport string `json:"transport,omitempty"`
	Why       string `json:"why,omitempty"`
	Path      string `json:"path,omitempty"`
	Guard     string `json:"guard,omitempty"`
	MTU       int    `json:"mtu,omitempty"` // longest packet in bytes
	Error     string `json:"error,omitempty"`

	*Measured // by the rank with the lower number
}

// Measured is the result of a short measurement.
type Measured struct {
	Latency     time.Duration `json:"latency_ns"` // one way: half of the median round trip of 16 bytes
	Bandwidth   float64       `json:"mb_s"`
	Offset      time.Duration `json:"clock_offset_ns"` // by which the peer's clock is ahead of this rank's
	Uncertainty time.Duration `json:"clock_uncertainty_ns"`
	Packets     uint64        `json:"packets"` // sent while bandwidth was measured
	Resent      uint64        `json:"resent"`  // packets sent again meanwhile
}

// A Pair is two ranks and the paths between them.
type Pair struct {
	From, To *Rank
	There    Peer // the path From → To
	Back     Peer // the path To → From
}

// Error returns why the two do not reach each other, or "".
func (p Pair) Error() string {
	if p.There.Error != "" {
		return p.There.Error
	}
	return p.Back.Error
}

// Pairs returns all pairs of ranks, in order. Of a rank that did not report it returns only the pair with rank 0.
func (r *Report) Pairs() (pairs []Pair) {
	for i := range r.Ranks {
		for j := i + 1; j < len(r.Ranks); j++ {
			a := &r.Ranks[i]
			b := &r.Ranks[j]
			if i > 0 && (a.Host.Unheard || b.Host.Unheard) {
				continue
			}
			pairs = append(pairs, Pair{a, b, a.peer(b.Rank), b.peer(a.Rank)})
		}
	}
	return pairs
}

// peer returns the path to another rank.
func (r *Rank) peer(rank int) Peer {
	for _, p := range r.Peers {
		if p.Rank == rank {
			return p
		}
	}
	return Peer{Rank: rank, Error: "it was not tried"}
}

// Hosts returns the hosts, each once, in the order of their first ranks.
func (r *Report) Hosts() (hosts []*Host) {
	seen := map[string]bool{}
	for i := range r.Ranks {
		h := &r.Ranks[i].Host
		if !seen[h.Name] {
			seen[h.Name] = true
			hosts = append(hosts, h)
		}
	}
	return hosts
}

// A Weight says how much a finding matters.
type Weight string

// The weights, the worst first.
const (
	Stops Weight = "stops" // a job cannot run
	Slow  Weight = "slow"  // a job runs, and could be faster
	Note  Weight = "note"  // worth knowing
)

// A Finding is something that could be better, and what to do about it.
type Finding struct {
	Weight Weight   `json:"weight"`
	Where  []string `json:"where"` // hosts, or pairs of them
	What   string   `json:"what"`
	Do     string   `json:"do,omitempty"`
}
