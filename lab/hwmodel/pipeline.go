package hwmodel

import (
	"time"

	"weft/internal/sim"
)

// A Resource is a part of the hardware that handles one packet at a time.
type Resource uint8

// The resources, in the order in which a packet uses them.
const (
	SenderCPU    Resource = iota // SenderCPU is the processor of the sending host
	SenderCard                   // SenderCard is the processor of its network interface
	SenderDMA                    // SenderDMA is its network interface's DMA engine
	Wire                         // Wire is the link between the hosts
	Switches                     // Switches are those on the way
	ReceiverCard                 // ReceiverCard is the processor of the receiving network interface
	ReceiverDMA                  // ReceiverDMA is its DMA engine
	ReceiverCPU                  // ReceiverCPU is the processor of the receiving host
	resources
)

// A Stage is a step of a pipeline. How long it takes depends on the packet's bytes.
type Stage struct {
	On    Resource
	Takes func(bytes int) Part
}

// A Pipeline is the sequence of stages that the packets of a message pass. A packet enters a stage when the whole
// packet has left the stage before: different packets overlap, the bytes of one packet do not.
type Pipeline struct {
	Packet *Input // longest packet in bytes; a longer message is split
	Stages []Stage
}

// packets returns the lengths of the packets of a message.
func (p Pipeline) packets(bytes int) []int {
	var lengths []int
	for longest := int(p.Packet.V); bytes > longest; bytes -= longest {
		lengths = append(lengths, longest)
	}
	return append(lengths, bytes)
}

// Path returns the parts that a message of one packet passes.
func (p Pipeline) Path(bytes int) Path {
	var path Path
	for _, s := range p.Stages {
		path = append(path, s.Takes(bytes))
	}
	return path
}

// figure returns a value that reads every stage, and the length of a packet where the message is longer than one.
func (p Pipeline) figure(v float64, bytes int) Figure {
	f := exact(v)
	lengths := p.packets(bytes)
	for _, n := range lengths {
		for _, part := range p.Path(n) {
			f.reads = union(f.reads, part.Reads)
		}
	}
	if len(lengths) > 1 {
		f.reads = union(f.reads, []*Input{p.Packet})
	}
	return f
}

// Latency returns the time of a message from end to end, in microseconds.
func (p Pipeline) Latency(bytes int) Figure {
	ends := p.run(bytes, 1)
	return p.figure(micros(time.Duration(ends[0])), bytes)
}

// Bandwidth returns the bandwidth in MB/s of messages that are sent one after another without waiting for an
// answer.
func (p Pipeline) Bandwidth(bytes int) Figure {
	const messages = 16
	ends := p.run(bytes, messages)
	busy := micros(time.Duration(ends[messages-1] - ends[0]))
	return p.figure(float64((messages-1)*bytes)/busy, bytes)
}

// Overhead returns for how long a message keeps the two processors busy, in
// microseconds: the paper's sum of sending and receiving.
func (p Pipeline) Overhead(bytes int) Figure {
	sum := Figure{}
	lengths := p.packets(bytes)
	if len(lengths) > 1 {
		sum.reads = []*Input{p.Packet}
	}
	for _, n := range lengths {
		for _, s := range p.Stages {
			if s.On == SenderCPU || s.On == ReceiverCPU {
				sum = sum.plus(Path{s.Takes(n)}.mean())
			}
		}
	}
	return sum
}

// run sends messages in virtual time, one after another, and returns when each has arrived.
func (p Pipeline) run(bytes, messages int) []sim.Time {
	f := &flow{world: sim.NewWorld(0), pipe: p, ends: make([]sim.Time, messages)}
	for m := range messages {
		for _, n := range p.packets(bytes) {
			f.world.At(0, &parcel{flow: f, message: m, bytes: n})
		}
	}
	for f.world.Step(sim.Never) {
	}
	return f.ends
}

// A flow is a sequence of messages in a pipeline.
type flow struct {
	world *sim.World
	pipe  Pipeline
	free  [resources]sim.Time // when each resource has finished its packets
	ends  []sim.Time          // by message
}

// A parcel is one packet of a flow.
type parcel struct {
	flow    *flow
	message int
	bytes   int
	next    int // stage
}

// Act enters the next stage and the stages after it that use the same resource: a resource finishes one packet
// before it begins the next.
func (p *parcel) Act() {
	f := p.flow
	stages := f.pipe.Stages
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

// crossing returns the least number of bytes, below most, at which b is faster than a; it returns most if there is
// none.
func crossing(a, b func(bytes int) Part, most int) Figure {
	for n := 1; n < most; n++ {
		ofA := a(n)
		ofB := b(n)
		if ofB.Min < ofA.Min {
			return Figure{float64(n), union(ofA.Reads, ofB.Reads)}
		}
	}
	return exact(float64(most))
}
