package breakdown

import "slices"

// size is the length of the messages in bytes.
const size = 64

// Title is the title of a picture of Ways.
const Title = "Where the time of a 64-byte message goes, one way, in µs"

// A Part is a part of the time.
type Part struct {
	Name string  `json:"part"`
	US   float64 `json:"us"`
}

// A Way is one way in which a message gets from one host to the other.
type Way struct {
	Name     string  `json:"way"`
	Parts    []Part  `json:"parts"`
	Sum      float64 `json:"sum_us"`
	Measured float64 `json:"measured_us"` // one way, half a round trip
}

// Off returns by how much the sum differs from what was measured, as a share.
func (w *Way) Off() float64 { return w.Sum/w.Measured - 1 }

// paths are the times that the parts are computed from, in us.
type paths struct {
	call, line, wake, protocol float64
	frame                      frame
	tcpSpinning                float64
	tcp, eth, ethAsleep        float64 // whole messages, one way
}

// frame is how long it takes to send a frame, by how far the frame gets.
type frame struct {
	socket float64 // the packet socket and the queueing discipline: the wire is off
	wire   float64 // and over the wire, to a host where nobody wants it
	ring   float64 // and into the receiver's ring
}

// medians returns the median of each path over the rounds.
func medians(rounds []paths) (m paths) {
	of := func(get func(*paths) *float64) {
		var v []float64
		for i := range rounds {
			v = append(v, *get(&rounds[i]))
		}
		slices.Sort(v)
		*get(&m) = (v[(len(v)-1)/2] + v[len(v)/2]) / 2
	}
	for _, get := range []func(*paths) *float64{
		func(p *paths) *float64 { return &p.call }, func(p *paths) *float64 { return &p.line },
		func(p *paths) *float64 { return &p.wake }, func(p *paths) *float64 { return &p.protocol },
		func(p *paths) *float64 { return &p.frame.socket }, func(p *paths) *float64 { return &p.frame.wire },
		func(p *paths) *float64 { return &p.frame.ring }, func(p *paths) *float64 { return &p.tcpSpinning },
		func(p *paths) *float64 { return &p.tcp }, func(p *paths) *float64 { return &p.eth },
		func(p *paths) *float64 { return &p.ethAsleep },
	} {
		of(get)
	}
	return m
}

// ways combines the parts. The parts of weft with polling are each measured by themselves, so their sum shows how
// much of the whole is explained. In the other two ways one part is the rest of the whole.
func (p *paths) ways() []Way {
	medium := p.frame.wire - p.frame.socket
	raw := []Part{
		{"weft's own code", p.protocol},
		{"system calls", p.call},
		{"packet socket", p.frame.socket - p.call},
		{"driver and wire", medium},
		{"into the ring", p.frame.ring - p.frame.wire},
		{"between processors", p.line},
	}
	// While a receiver sleeps its processor may sleep, too, and takes time to wake up.
	asleep := append(slices.Clone(raw),
		Part{"wake-up", p.wake}, Part{"processors that slept", p.ethAsleep - p.eth - p.wake})
	tcp := []Part{
		{"system calls", 2 * p.call},
		{"driver and wire", medium},
		{"between processors", p.line},
		{"TCP/IP", p.tcpSpinning - 2*p.call - medium - p.line},
		{"wake-up, Go's poller", p.tcp - p.tcpSpinning},
	}
	all := []Way{
		{Name: "weft on raw Ethernet", Parts: raw, Measured: p.eth},
		{Name: "the same, asleep", Parts: asleep, Measured: p.ethAsleep},
		{Name: "TCP, as Go programs use it", Parts: tcp, Measured: p.tcp},
	}
	for i := range all {
		for _, part := range all[i].Parts {
			all[i].Sum += part.US
		}
	}
	return all
}
