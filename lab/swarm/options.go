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

// dice draw options.
type dice struct{ *rand.Rand }

// pick draws one of the values.
func (d dice) pick(values ...int) int { return values[d.IntN(len(values))] }

// some draws a number below most, with probability p, and otherwise 0.
func (d dice) some(p, most float64) float64 {
	if d.Float64() < p {
		return d.Float64() * most
	}
	return 0
}

// FromSeed draws the options of a run. About one run in four has a reliable
// network, one in eight no faults at all.
func FromSeed(seed uint64) Options {
	d := dice{rand.New(rand.NewPCG(seed, 0x6f707469))}
	o := Options{
		Seed: seed, Nodes: 3 + d.IntN(6), Ops: d.pick(50, 100, 200), Depth: d.pick(1, 4, 16), Ports: 1 + d.IntN(2),
		Think: time.Duration(d.pick(20, 100, 500)) * time.Microsecond, Cancel: d.some(0.5, 0.1),
		Reliable: d.IntN(4) == 0, MTU: d.pick(576, 1500, 9000), Window: d.pick(4, 16, 256), MaxQueue: d.pick(2, 8, 1024),
		RecvBuffer: d.pick(64<<10, 64<<10, 128<<10, 1<<20), Backoff: d.IntN(4) == 0, Full: d.some(0.3, 0.2),
		SendBuffer: 128 << 10, Threads: 1,
		Delay: time.Duration(d.pick(1, 10, 100)) * time.Microsecond,
	}
	// Each of these has a sequence of its own, so that a seed keeps its meaning otherwise.
	apart := func(sequence uint64) dice { return dice{rand.New(rand.NewPCG(seed, sequence))} }
	locks := apart(0x6c6f636b)
	gang := apart(0x67616e67)
	if locks.IntN(3) == 0 {
		o.Locks = 1 + locks.IntN(3)
		o.Ops = o.Ops / 2
	}
	if mail := apart(0x6d61696c); mail.IntN(2) == 0 {
		o.Boxes = true
		o.Stall = mail.IntN(4) == 0
	}
	o.crowd(apart(0x63726f77))
	if gang.IntN(4) == 0 {
		o.Gang = gang.pick(1, 3, 10)
	}
	if suspend := apart(0x73757370); suspend.IntN(6) == 0 {
		o.Suspends = 1 + suspend.IntN(2)
	}
	if sever := apart(0x73657665); o.Locks > 0 && !o.Reliable && sever.IntN(3) == 0 {
		o.Severs = 1 + sever.IntN(3)
	}
	if beat := apart(0x62656174); o.Reliable {
		o.Beats = beat.IntN(3) == 0
	}
	if path := apart(0x70617468); !o.Reliable && o.MTU > narrowest && path.IntN(3) == 0 {
		o.Narrows = 1 + path.IntN(4)
	}
	if d.IntN(8) > 0 {
		o.faults(d, apart(0x7365616c))
	}
	if o.Gang > 0 {
		o.takeTurns(gang)
	}
	if o.Locks > 0 { // a home that comes back has forgotten all
		o.Restart = false
		o.Crashes = max(o.Crashes, locks.IntN(3))
		o.Immortal = false
	}
	return o
}

// faults draws what goes wrong on hosts, and on a network that is not reliable. Encrypt decides
// whether packets that are not checked are encrypted.
func (o *Options) faults(d, encrypt dice) {
	o.Pauses = d.pick(0, 0, 1, 3)
	o.Crashes = d.pick(0, 0, 0, 1, 2)
	o.Drift = d.pick(0, 0, 200)
	if o.Reliable {
		return
	}
	o.Loss = d.some(0.5, 0.2)
	o.Duplicate = d.some(0.3, 0.1)
	o.Reorder = d.some(0.4, 0.3)
	o.Corrupt = d.some(0.3, 0.05)
	o.Replay = d.some(0.3, 0.05)
	o.Jitter = time.Duration(d.pick(10, 100, 1000)) * time.Microsecond
	if d.IntN(4) == 0 {
		o.Jitter = 50 * time.Millisecond
	}
	o.Partitions = d.pick(0, 0, 0, 1, 2)
	o.Clogs = d.pick(0, 0, 1, 3)
	o.Selective = d.pick(0, 1, 1, 2)
	if d.IntN(3) == 0 {
		o.Guard = link.Checked
	} else if encrypt.IntN(2) == 0 {
		o.Guard = link.Encrypted
	}
	o.Restart = d.IntN(2) == 0
	o.Immortal = o.Crashes == 0 && d.IntN(3) == 0
}

// takeTurns makes a run one in which two programs can take turns: a node that comes back has
// forgotten its programs, and a node that computes is not asked.
func (o *Options) takeTurns(d dice) {
	o.Restart = false
	o.Silent = 0
	if d.IntN(2) == 0 {
		o.Large = true
		o.RecvBuffer = 64 << 10
	}
}

// crowd draws options that fill buffers and delay the operations that hold them.
func (o *Options) crowd(d dice) {
	if d.IntN(2) == 0 {
		return
	}
	o.SendBuffer = d.pick(64<<10, 64<<10, 96<<10, 256<<10, 1<<20)
	o.Large = d.IntN(2) == 0
	o.Threads = d.pick(1, 2, 3)
	switch d.IntN(4) {
	case 0:
		o.FanIn = true
	case 1:
		o.FanOut = true
		if o.Locks == 0 { // so many that the buffer is full before any of them has been sent much
			o.Nodes = 12 + d.IntN(6)
			o.Ops = max(o.Ops, 100)
			o.Large = true
		}
	}
	if o.Cancel == 0 && d.IntN(2) == 0 {
		o.Cancel = d.Float64() * 0.3
	}
	if !o.Reliable || o.Locks > 0 || d.IntN(4) == 0 {
		return
	}
	o.Silent = 1
	if o.FanIn {
		o.Silent += d.IntN(o.Nodes - 1)
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
