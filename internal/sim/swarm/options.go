package swarm

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"weft/internal/engine/link"
)

// Options decide everything about a run.
type Options struct {
	Seed uint64

	Nodes  int
	Ops    int // operations that each node begins
	Depth  int // operations that a node has under way at a time
	Ports  int
	Think  time.Duration // between two operations of a node, on average
	Cancel float64       // share of the operations that are given up
	Boxes  bool          // every node has a mailbox
	Stall  bool          // a full mailbox stalls the links of its senders
	Locks  int           // shared locks; with them come barriers and a semaphore
	Gang   int           // switches between two programs that take turns on a channel

	Reliable   bool // the network loses nothing, as shared memory; engines run no links
	Beats      bool // and do not tell when a process is stopped, as TCP: engines exchange signs of life
	MTU        int
	Window     int
	MaxQueue   int
	RecvBuffer int
	SendBuffer int
	Backoff    bool
	Threads    int        // receives that are posted at a time; with more than one, what is offered waits to be fetched
	Large      bool       // most messages are about as long as the buffers allow
	FanIn      bool       // all send to rank 0
	FanOut     bool       // only rank 0 sends messages
	Silent     int        // nodes whose programs compute from some time on: only urgent packets wake them
	Full       float64    // share of the batches for which the transport has no room
	Selective  int        // each rank that is a multiple of it keeps packets that come out of order; 0: none
	Guard      link.Guard // of packets

	Delay                                     time.Duration
	Loss, Duplicate, Reorder, Corrupt, Replay float64
	Jitter                                    time.Duration

	Immortal                           bool // no rank is ever taken for dead, and none probes
	Pauses, Crashes, Partitions, Clogs int
	Narrows                            int  // paths that lose long packets for some time, told to the sender or not
	Severs                             int  // holders of locks that are cut off from the lock's home alone
	Suspends                           int  // pauses of all at once, as when a virtual machine is suspended
	Restart                            bool // after a crash
	Drift                              int  // ppm, of the fastest and the slowest clock
}

// Liveness is after how long a silent peer is dead.
const liveness = 300 * time.Millisecond

// A path takes packets of narrowest bytes at least; pathRaise is after how long longer
// ones are tried again.
const (
	narrowest = 1232
	pathRaise = 50 * time.Millisecond
)

// FromSeed draws the options of a run. About one run in four has a reliable
// network, one in eight no faults at all.
func FromSeed(seed uint64) (o Options) {
	r := rand.New(rand.NewPCG(seed, 0x6f707469))
	pick := func(values ...int) int { return values[r.IntN(len(values))] }
	some := func(p, most float64) float64 {
		if r.Float64() < p {
			return r.Float64() * most
		}
		return 0
	}
	o = Options{
		Seed: seed, Nodes: 3 + r.IntN(6), Ops: pick(50, 100, 200), Depth: pick(1, 4, 16), Ports: 1 + r.IntN(2),
		Think: time.Duration(pick(20, 100, 500)) * time.Microsecond, Cancel: some(0.5, 0.1),
		Reliable: r.IntN(4) == 0, MTU: pick(576, 1500, 9000), Window: pick(4, 16, 256), MaxQueue: pick(2, 8, 1024),
		RecvBuffer: pick(64<<10, 64<<10, 128<<10, 1<<20), Backoff: r.IntN(4) == 0, Full: some(0.3, 0.2),
		SendBuffer: 128 << 10, Threads: 1,
		Delay: time.Duration(pick(1, 10, 100)) * time.Microsecond,
	}
	// Coordination is drawn apart, so that a seed keeps its meaning otherwise.
	if apart := rand.New(rand.NewPCG(seed, 0x6c6f636b)); apart.IntN(3) == 0 {
		o.Locks = 1 + apart.IntN(3)
		o.Ops = o.Ops / 2
		defer func() { // a home that comes back has forgotten all
			o.Restart = false
			o.Crashes = max(o.Crashes, apart.IntN(3))
			o.Immortal = false
		}()
	}
	if apart := rand.New(rand.NewPCG(seed, 0x6d61696c)); apart.IntN(2) == 0 {
		o.Boxes = true
		o.Stall = apart.IntN(4) == 0
	}
	o.crowd(rand.New(rand.NewPCG(seed, 0x63726f77)))
	if apart := rand.New(rand.NewPCG(seed, 0x67616e67)); apart.IntN(4) == 0 {
		o.Gang = []int{1, 3, 10}[apart.IntN(3)]
		crowded := apart.IntN(2) == 0
		defer func() { // one that comes back has forgotten its programs; one that computes is not asked
			o.Restart = false
			o.Silent = 0
			if crowded {
				o.Large = true
				o.RecvBuffer = 64 << 10
			}
		}()
	}
	if apart := rand.New(rand.NewPCG(seed, 0x73757370)); apart.IntN(6) == 0 {
		o.Suspends = 1 + apart.IntN(2)
	}
	if apart := rand.New(rand.NewPCG(seed, 0x73657665)); o.Locks > 0 && !o.Reliable && apart.IntN(3) == 0 {
		o.Severs = 1 + apart.IntN(3)
	}
	if apart := rand.New(rand.NewPCG(seed, 0x62656174)); o.Reliable {
		o.Beats = apart.IntN(3) == 0
	}
	if apart := rand.New(rand.NewPCG(seed, 0x70617468)); !o.Reliable && o.MTU > narrowest && apart.IntN(3) == 0 {
		o.Narrows = 1 + apart.IntN(4)
	}
	if r.IntN(8) == 0 {
		return o
	}
	o.Pauses = pick(0, 0, 1, 3)
	o.Crashes = pick(0, 0, 0, 1, 2)
	o.Drift = pick(0, 0, 200)
	if o.Reliable {
		return o
	}
	o.Loss = some(0.5, 0.2)
	o.Duplicate = some(0.3, 0.1)
	o.Reorder = some(0.4, 0.3)
	o.Corrupt = some(0.3, 0.05)
	o.Replay = some(0.3, 0.05)
	o.Jitter = time.Duration(pick(10, 100, 1000)) * time.Microsecond
	if r.IntN(4) == 0 {
		o.Jitter = 50 * time.Millisecond
	}
	o.Partitions = pick(0, 0, 0, 1, 2)
	o.Clogs = pick(0, 0, 1, 3)
	o.Selective = pick(0, 1, 1, 2)
	if r.IntN(3) == 0 {
		o.Guard = link.Checked
	} else if apart := rand.New(rand.NewPCG(seed, 0x7365616c)); apart.IntN(2) == 0 {
		o.Guard = link.Encrypted
	}
	o.Restart = r.IntN(2) == 0
	o.Immortal = o.Crashes == 0 && r.IntN(3) == 0
	return o
}

// crowd draws options that fill buffers and delay the operations that hold them.
func (o *Options) crowd(r *rand.Rand) {
	if r.IntN(2) == 0 {
		return
	}
	o.SendBuffer = []int{64 << 10, 64 << 10, 96 << 10, 256 << 10, 1 << 20}[r.IntN(5)]
	o.Large = r.IntN(2) == 0
	o.Threads = []int{1, 2, 3}[r.IntN(3)]
	switch r.IntN(4) {
	case 0:
		o.FanIn = true
	case 1:
		o.FanOut = true
		if o.Locks == 0 { // so many that the buffer is full before any of them has been sent much
			o.Nodes = 12 + r.IntN(6)
			o.Ops = max(o.Ops, 100)
			o.Large = true
		}
	}
	if o.Cancel == 0 && r.IntN(2) == 0 {
		o.Cancel = r.Float64() * 0.3
	}
	if !o.Reliable || o.Locks > 0 || r.IntN(4) == 0 {
		return
	}
	o.Silent = 1
	if o.FanIn {
		o.Silent += r.IntN(o.Nodes - 1)
	}
}

// String returns the options, one a line.
func (o Options) String() string {
	type plain Options
	text := strings.Trim(fmt.Sprintf("%+v", plain(o)), "{}")
	var s strings.Builder
	for _, field := range strings.Fields(text) {
		name, value, _ := strings.Cut(field, ":")
		fmt.Fprintf(&s, "  %-12s %s\n", strings.ToLower(name), value)
	}
	return s.String()
}
