package perf

import (
	"context"
	"slices"
)

// An EthernetPoint is a point of one of [Sumimoto00]'s figures 4 to 6 as they come out here: one line of -json.
type EthernetPoint struct {
	Test   string  `json:"test"`   // "pmethernet"
	Figure string  `json:"figure"` // latency, bandwidth or speedup
	Line   string  `json:"line"`
	X      int     `json:"x"` // bytes of a message, or hosts
	Value  float64 `json:"value"`
	Unit   string  `json:"unit"`
	Error  string  `json:"error,omitempty"`
}

// ethernetLines are the ways in which a receiver learns of a message. The paper compares the first two, and TCP: with
// reaping the receiver that polls brings the packet itself, without it an interrupt does. A receiver that sleeps is a
// third thing. The others are single packets alone, for table 2: UDP and ICMP, which are the kernel's own, and packets
// of IP and frames without a protocol above.
func ethernetLines(s Spec) []Baseline {
	interrupted := s.with(func(s *Spec) { s.Interrupted = true })
	asleep := s.with(func(s *Spec) { s.Blocked = true })
	single := s.with(func(s *Spec) {
		s.Sizes = slices.DeleteFunc(slices.Clone(s.Sizes), func(n int) bool { return n > mostEcho })
	})
	return []Baseline{
		{System: Weft, Label: "reaping", Spec: s}, {System: Weft, Label: "interrupt", Spec: interrupted},
		{System: Weft, Label: "asleep", Spec: asleep}, {System: Find("tcp"), Label: "TCP", Spec: s},
		{System: Find("datagram"), Label: "UDP", Spec: single}, {System: Find("icmp"), Label: "ICMP", Spec: single},
		{System: Find("ip"), Label: "IP", Spec: single}, {System: Find("frames"), Label: "data link", Spec: single},
	}
}

// MeasureEthernet measures latency and bandwidth by length over s.Transport, and the speed-up of Integer Sort, class
// s.Class, over s.Transport and over TCP by the number of ranks, of which the first is 1.
func MeasureEthernet(ctx context.Context, s Spec, ranks []int,
	progress func(round int, system string),
) []EthernetPoint {
	var points []EthernetPoint
	for _, figure := range []string{"latency", "bandwidth"} {
		s.Test = figure
		s.Op = "send"
		for _, l := range ethernetLines(s) {
			for _, r := range Measure(ctx, l.Spec, []System{l.System}, progress) {
				v, unit, _ := r.Figure()
				points = append(points, EthernetPoint{"pmethernet", figure, l.Label, r.Size, v, unit, r.Error})
			}
		}
	}
	for _, transport := range []string{s.Transport, "tcp"} {
		one := 0.0
		for _, n := range ranks {
			p := EthernetPoint{Test: "pmethernet", Figure: "speedup", Line: "over " + transport, X: n}
			sort := Spec{Test: "nas", Transport: transport, Op: "is", Sizes: []int{0}, N: n, Class: s.Class, Rounds: s.Rounds}
			for _, r := range Measure(ctx, sort, []System{Weft}, progress) {
				if p.Error = r.Error; n == 1 {
					one = r.Msgs
				}
				p.Value = r.Msgs / max(one, 1)
			}
			points = append(points, p)
		}
	}
	return points
}
