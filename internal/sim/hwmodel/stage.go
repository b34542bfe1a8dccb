package hwmodel

import (
	"math"
	"time"

	"weft/internal/sim"
)

// A Resource is what a stage keeps busy: one packet at a time.
type Resource uint8

const (
	SenderCPU Resource = iota
	SenderDMA
	Wire
	ReceiverDMA
	ReceiverCPU
	resources
)

// A Stage is a step on the way of a packet, whose length depends on the packet's
// bytes.
type Stage struct {
	On    Resource
	Takes func(bytes int) Part
}

// A Way is the stages through which the packets of a message go. A packet enters a
// stage when it has left the one before, so that packets overlap and bytes do not.
type Way struct {
	Packet int // most bytes of a packet; a longer message is cut
	Stages []Stage
}

// packets returns the lengths of the packets of a message.
func (w Way) packets(bytes int) []int {
	var lengths []int
	for bytes > w.Packet {
		lengths = append(lengths, w.Packet)
		bytes -= w.Packet
	}
	return append(lengths, bytes)
}

// Path returns the way of a message of one packet, part by part.
func (w Way) Path(bytes int) Path {
	var p Path
	for _, s := range w.Stages {
		p = append(p, s.Takes(bytes))
	}
	return p
}

// origin returns what a figure is computed from that reads every stage.
func (w Way) origin(bytes int) Origin {
	of := OfParts
	for _, n := range w.packets(bytes) {
		of = max(of, w.Path(n).mean().Of)
	}
	return of
}

// Latency returns how long a message is on its way, in microseconds.
func (w Way) Latency(bytes int) Figure {
	ends := w.run(bytes, 1)
	return Figure{micros(time.Duration(ends[0])), w.origin(bytes)}
}

// Bandwidth returns the bytes a microsecond, or MB/s, of messages one after another
// that wait for no answer.
func (w Way) Bandwidth(bytes int) Figure {
	const messages = 16
	ends := w.run(bytes, messages)
	busy := micros(time.Duration(ends[messages-1] - ends[0]))
	return Figure{float64((messages-1)*bytes) / busy, w.origin(bytes)}
}

// Overhead returns for how long a message keeps the two processors busy, in
// microseconds: the paper's sum of sending and receiving.
func (w Way) Overhead(bytes int) Figure {
	sum := Figure{}
	for _, n := range w.packets(bytes) {
		for _, s := range w.Stages {
			if s.On == SenderCPU || s.On == ReceiverCPU {
				sum = sum.plus(Path{s.Takes(n)}.mean())
			}
		}
	}
	return sum
}

// run sends messages in virtual time, one after another, and returns when each has
// arrived.
func (w Way) run(bytes, messages int) []sim.Time {
	f := &flow{world: sim.NewWorld(0), way: w, ends: make([]sim.Time, messages)}
	for m := range messages {
		for _, n := range w.packets(bytes) {
			f.world.At(0, &parcel{flow: f, message: m, bytes: n})
		}
	}
	for f.world.Step(sim.Never) {
	}
	return f.ends
}

// A flow is messages on their way.
type flow struct {
	world *sim.World
	way   Way
	free  [resources]sim.Time // when a resource has done what it was given
	ends  []sim.Time          // by message
}

// A parcel is a packet of a flow.
type parcel struct {
	flow    *flow
	message int
	bytes   int
	next    int // stage
}

// Act enters the next stage, and with it those that follow on the same resource:
// what a processor has begun with one packet it ends before the next.
func (p *parcel) Act() {
	f := p.flow
	stages := f.way.Stages
	if p.next == len(stages) {
		f.ends[p.message] = f.world.Now()
		return
	}
	on := stages[p.next].On
	end := max(f.world.Now(), f.free[on])
	for p.next < len(stages) && stages[p.next].On == on {
		end = end.Add(stages[p.next].Takes(p.bytes).Min)
		p.next++
	}
	f.free[on] = end
	f.world.At(end, p)
}

// slowest returns the least of several rates: what a way of these stages comes to
// with long messages.
func slowest(rates ...Figure) Figure {
	least := Figure{V: math.Inf(1)}
	for _, r := range rates {
		least = Figure{min(least.V, r.V), max(least.Of, r.Of)}
	}
	return least
}

// crossing returns the least number of bytes at which b is faster than a, up to
// most; the result is most if there is none.
func crossing(a, b func(bytes int) Part, most int) Figure {
	for n := 1; n < most; n++ {
		p, q := a(n), b(n)
		if q.Min < p.Min {
			return Figure{float64(n), max(p.Of, q.Of)}
		}
	}
	return Figure{V: float64(most)}
}
