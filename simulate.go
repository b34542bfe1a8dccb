package weft

import (
	"context"
	"io"
	"time"

	"weft/internal/driver"
	"weft/internal/join"
	"weft/internal/sim/job"
)

// A Cluster describes a cluster that Simulate simulates.
type Cluster struct {
	Ranks int

	// PerHost is how many ranks, in the order of their numbers, share a host; 0 means that each
	// rank has a host of its own. Ranks on one host map each other's memory, as on real hosts;
	// accesses to it take no time. Packets between them do not use the network and take 300
	// ns. Each rank has a network port of its own.
	PerHost int

	// Topology is "crossbar" (the default), "ring", "torus:ROWSxCOLUMNS" with two
	// dimensions or more, or "fattree:ARITY". Torus and ring route packets
	// dimension by dimension, a fat tree spreads them by destination.
	//
	// In a program that imports weft/lab/switches it may also be a network of switches in the
	// manner of Myrinet, with up*/down* routes (Schroeder et al., Autonet, 1991): "file:PATH"
	// reads one, with a line "switch NAME PORTS", "host NAME SWITCH:PORT" or
	// "link SWITCH:PORT SWITCH:PORT" for each of its parts, and its first hosts are the
	// ranks; "switch-tree:PORTS", "switch-fattree:PORTS", "switch-ring:PORTS" and
	// "switch-random:PORTS:SEED" are generated for as many hosts as there are ranks, 4096
	// at most. Behind " by " may stand the map by which packets find their way, such as
	// "file:net.links by file:found.links" of weftlab sim map; else that is the network.
	Topology string

	// Link is the bandwidth and delay of each link, and optionally how many bytes its queue
	// holds: "10Gbps,1us" (the default), "1Gbps,50us,64KiB". 0 means no limit. Switches store
	// and forward packets. A rank's own link takes 62 of the longest packets, as a socket's
	// buffer does; what does not fit waits in the rank.
	Link string

	// MTU is the longest packet in bytes; 0 means 1500.
	MTU int

	// Loss is the share of packets that are lost, from 0 to less than 1.
	Loss float64

	// GoBackN is that of Config.
	GoBackN bool

	// Liveness is that of Config, in virtual time; 0 means 3 seconds.
	Liveness time.Duration

	// Drift makes the clocks of hosts wrong: each shows up to a second when the job begins, and
	// is too fast or too slow by up to so many parts per million, at most 1,000; 0 means
	// that all clocks are exact. The seed chooses.
	Drift int

	// Faults are injected faults, besides Loss.
	Faults []Fault

	// Seed determines all random choices.
	Seed uint64

	// Log, if it is not nil, gets a line for every packet that arrives.
	Log io.Writer

	// Timeline, if it is not nil, gets the operations of each rank and their virtual times, as a
	// file for ui.perfetto.dev; see docs/TIMELINE.md.
	Timeline io.Writer

	// Trace, if it is not nil, gets how much each rank has sent to each other rank, as
	// WEFT_TRACE records it, when the rank leaves.
	Trace io.Writer
}

// A Simulation is the result of a simulated job.
type Simulation struct {
	Ranks       int
	Topology    string
	Time        time.Duration // virtual, when the last rank's function returned
	Messages    uint64        // received by ports, or put into mailboxes by packets
	Packets     uint64        // that arrived
	Bytes       uint64        // in packets sent
	Lost        uint64        // packets, by chance or in full queues
	Resent      uint64        // packets
	Undelivered int           // messages that were sent, and that nobody had accepted at the end
	Events      uint64
	Hash        uint64 // of everything that happened: equal for equal seeds

	result *job.Result
}

// Simulate runs a job as Local does, but on a simulated cluster and in virtual time. The protocol,
// run, and the deadlines of contexts behave as on a real cluster. Computations between calls of
// weft take no virtual time; Proc.Sleep stands for them.
//
// One goroutine of one rank runs at a time, until it waits. The goroutines of one rank, which
// Proc.Go starts, may also take turns at any call of weft. Runs with the same cluster and seed
// are the same, byte for byte, if run is deterministic: it uses no goroutines but those of
// Proc.Go, no clock but Proc.Now, and no variables that ranks share. Other seeds lead to other
// orders of events.
//
// As with Local, the error is that of the rank that failed first. When all ranks wait for each
// other, the error matches ErrStuck and says what each rank waits for.
func Simulate(ctx context.Context, c Cluster, run func(ctx context.Context, p *Proc) error) (*Simulation, error) {
	r, err := job.Cluster{
		Ranks: c.Ranks, PerHost: c.PerHost, Topology: c.Topology, Link: c.Link, MTU: c.MTU, Loss: c.Loss,
		GoBackN: c.GoBackN, Liveness: c.Liveness, Drift: c.Drift, Faults: faultsOf(c.Faults), Seed: c.Seed, Log: c.Log,
		Timeline: c.Timeline, Trace: c.Trace,
	}.Run(driver.Endless(ctx), programOf(run))
	if r == nil {
		return nil, err
	}
	s := r.Net.Stats
	return &Simulation{
		Ranks: c.Ranks, Topology: r.Net.Topology().Name(), Time: r.Time, Messages: r.Messages,
		Packets: s.Delivered, Bytes: s.Bytes, Lost: r.Lost(), Resent: r.Resent, Undelivered: r.Undelivered,
		Events: r.World.Events(), Hash: r.World.Hash(), result: r,
	}, err
}

// programOf makes the program of a rank of run, for jobs whose ranks live in one process.
func programOf(run func(ctx context.Context, p *Proc) error) func(m *join.Member) join.Program {
	return func(m *join.Member) join.Program {
		p := newProc(m)
		return join.Program{
			Run: func(ctx context.Context) error { return run(ctx, p) }, Returned: p.hasReturned,
			Failed: p.fail, Close: p.Close,
		}
	}
}
