package perf

import (
	"context"
	"time"
)

// A Spec describes a measurement.
type Spec struct {
	Test      string // latency, bandwidth, rate, alltoall, barrier, lock, ipush, gather, incast, or nas (the program Op)
	Transport string // of weft: auto, shm, udp
	Op        string // send, push, put or pull
	Figure    string // of ipush: latency or bandwidth; of latency and lock: p99, or the median
	Sizes     []int  // in bytes
	Rounds    int
	N         int    // ranks; not of latency, bandwidth, rate and ipush
	Exchanges int    // rounds of messages; alltoall and gather only
	InPlace   bool   // write and read messages in place
	Alloc     bool   // long messages from and to memory that is shared
	Blocked   bool   // both sides sleep when a message arrives
	Algorithm string // of a barrier or lock
	Bulk      int    // of latency and lock: bytes of the long messages that rank 0 sends to rank 1 meanwhile
	Brief     bool   // of latency, bandwidth, rate and logp: for tests, so short that the figures mean nothing

	For   time.Duration // of incast
	Loss  float64       // share of all frames between the hosts of a lab that get lost; of targets only
	Class string        // of nas

	Guard string // of weft's packets to other hosts: see weft.Config

	// Interrupted: the receiver polls its memory, and a goroutine that sleeps until packets arrive brings them.
	Interrupted bool

	Pattern    string // of latency: how goroutines share messages, one of Patterns; or none
	Goroutines int    // clients, with a Pattern
}

// A Sample is the figures of one system at one size in one round.
type Sample struct {
	Size     int       `json:"size"`
	NS       []float64 `json:"ns,omitempty"`       // latency: one way, each
	Groups   []float64 `json:"groups,omitempty"`   // latency: one way, means of several, where that is more exact
	MBs      float64   `json:"mb_s,omitempty"`     // bandwidth: 10^6 bytes per second
	Msgs     float64   `json:"msg_s,omitempty"`    // rate
	Skew     []float64 `json:"skew,omitempty"`     // barrier: from the first to the last to go on
	Messages float64   `json:"messages,omitempty"` // for one operation, of all ranks
	Ops      int       `json:"ops,omitempty"`      // operations measured
	Issue    *Issue    `json:"issue,omitempty"`    // logp
	Buffer   *Buffer   `json:"buffer,omitempty"`   // buffers
	Flow     *Flow     `json:"flow,omitempty"`     // flow
	Interval *Interval `json:"interval,omitempty"` // incast
	CPU      float64   `json:"cpu_s,omitempty"`    // processor seconds of all processes, where known
	Wall     float64   `json:"wall_s,omitempty"`
}

// A System can run tests.
type System interface {
	Name() string
	// Absent returns the package to install if the system is not installed, otherwise "".
	Absent() string
	// Supports reports whether the system can run the test.
	Supports(s Spec) bool
	Run(ctx context.Context, s Spec) ([]Sample, error)
}

// Find returns the system of a name, or nil.
func Find(name string) System {
	switch name {
	case "tcp", "unix", "tls", "stream":
		return sockets{name}
	case "datagram", "icmp":
		return echo{name}
	case "ip", "frames":
		return bare{name}
	case "udp":
		return overUDP{}
	case "sockperf":
		return sockperf{}
	case "iperf3":
		return iperf3{}
	case "openmpi":
		return mpi{name: name, cc: "mpicc.openmpi", run: "mpirun.openmpi", pkg: "openmpi-bin libopenmpi-dev",
			flags: []string{"--allow-run-as-root", "--oversubscribe", "--bind-to", "none"}}
	case "mpich":
		return mpi{name: name, cc: "mpicc.mpich", run: "mpiexec.mpich", pkg: "mpich libmpich-dev"}
	case "am", "fm", "vmmc", "pm":
		return library{op: name}
	case "ucx":
		return ucx{}
	default:
		return nil
	}
}

// Names lists the systems that Find knows.
var Names = []string{
	"tcp", "unix", "tls", "stream", "datagram", "icmp", "ip", "frames", "udp", "sockperf", "iperf3", "openmpi", "mpich",
	"ucx", "am", "fm", "vmmc", "pm",
}
