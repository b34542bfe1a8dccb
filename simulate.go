package weft

import (
	"context"
	"errors"
	"io"
	"time"

	"weft/internal/sim"
)

// A Cluster is a cluster that does not exist, for Simulate.
type Cluster struct {
	Ranks int

	// PerHost is how many ranks share a host, one after another; 0 means that each has
	// a machine to itself. Ranks of a host map each other's memory, as real ones do:
	// what they write there takes no time. Packets between them need no network and
	// take 300 ns. Each rank has a port of its own to the network.
	PerHost int

	// Topology is "crossbar" (the default), "ring", "torus:ROWSxCOLUMNS" with two
	// dimensions or more, or "fattree:ARITY". Torus and ring route packets
	// dimension by dimension, a fat tree spreads them by destination.
	//
	// It may also be a network of switches in the manner of Myrinet, with up*/down*
	// routes (Schroeder et al., Autonet, 1991): "file:PATH" reads one, with a line
	// "switch NAME PORTS", "host NAME SWITCH:PORT" or "link SWITCH:PORT SWITCH:PORT" for
	// each of its parts, and its first hosts are the ranks; "switch-tree:PORTS",
	// "switch-fattree:PORTS", "switch-ring:PORTS" and "switch-random:PORTS:SEED" are
	// generated for as many hosts as there are ranks, 4096 at most.
	Topology string

	// Link is bandwidth and delay of each wire, and how many bytes may wait for
	// it if that is bounded: "10Gbps,1us" (the default), "1Gbps,50us,64KiB". A 0
	// is no limit. Packets are stored and forwarded at each switch.
	Link string

	// MTU is the longest packet in bytes; 0 means 1500.
	MTU int

	// Loss is the share of packets that get lost.
	Loss float64

	// GoBackN is that of Config.
	GoBackN bool

	// Liveness is that of Config, in virtual time.
	Liveness time.Duration

	// Faults are what goes wrong, besides Loss.
	Faults []Fault

	// Seed decides about everything that is left to chance.
	Seed uint64

	// Log gets a line for every packet that arrives, if it is not nil.
	Log io.Writer

	// Timeline gets what each rank did and when, in virtual time, as a file for
	// ui.perfetto.dev, if it is not nil; see docs/TIMELINE.md.
	Timeline io.Writer

	// Trace gets what each rank has sent to whom when it leaves, as WEFT_TRACE
	// records it, if it is not nil.
	Trace io.Writer

	amt *amtFile
}

// A Simulation is what came of a simulated job.
type Simulation struct {
	Ranks       int
	Topology    string
	Time        time.Duration // virtual, when the last rank's function returned
	Messages    uint64
	Packets     uint64 // that arrived
	Bytes       uint64 // in packets sent
	Lost        uint64 // packets, by chance or in full queues
	Resent      uint64 // packets
	Undelivered int    // messages that were sent, and that nobody had accepted at the end
	Events      uint64
	Hash        uint64 // of everything that happened: equal for equal seeds

	net *sim.Network
	end sim.Time
}

// Simulate runs a job as Local does, on a cluster that does not exist and in
// virtual time: the protocol code, run, and the deadlines of contexts behave as
// on a real one, but what is computed between calls of weft takes no time (see
// Proc.Sleep). One goroutine of one rank runs at a time, until it waits for something;
// those of a rank, which Proc.Go starts, may also lose their turn to each other in any
// call of weft. The same cluster with the same seed does the same, byte for byte, if
// run itself does: that needs no goroutines but those, no time but Proc.Now, and no
// variables that ranks share. Other seeds try other orders.
//
// The error is that of the rank that failed first, as that of Local. When all ranks
// wait for each other, it says what for.
func Simulate(ctx context.Context, c Cluster, run func(ctx context.Context, p *Proc) error) (*Simulation, error) {
	j, err := newSimJob(ctx, c)
	if err != nil {
		return nil, err
	}
	for rank := range c.Ranks {
		if err := j.add(rank, run); err != nil {
			return nil, err
		}
	}
	j.startFaults()
	j.play()
	return j.result(), errors.Join(j.err, j.writeTimeline())
}
