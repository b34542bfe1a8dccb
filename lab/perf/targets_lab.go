package perf

import "slices"

// labTargets returns the targets between two hosts of a lab: over raw Ethernet (with UDP for long
// packets), and over UDP alone.
func labTargets() []Target {
	over := func(s Spec) Spec { return s.with(func(s *Spec) { s.Transport = "eth" }) }
	one := over(spec("latency", "send", 64))
	bulk := over(spec("bandwidth", "send", 1<<20))
	pieces := over(spec("bandwidth", "send", 64<<10))
	many := over(spec("rate", "send", 64))
	datagrams := one.with(func(s *Spec) { s.Transport = "udp" })
	asleep := one.with(func(s *Spec) { s.Blocked = true })
	interrupted := one.with(func(s *Spec) { s.Interrupted = true })
	sealed := bulk.with(func(s *Spec) {
		s.Transport = "udp"
		s.Guard = "encrypt"
	})
	targets := []Target{
		{Name: "eth64", What: "64 B, raw Ethernet",
			Ours: one, Against: systemsDoing(one, "tcp"), Limit: 0.28},
		{Name: "eth64spin", What: "64 B, raw Ethernet, against TCP that spins",
			Ours: one, Against: systemsDoing(one, "sockperf"), Limit: 0.5},
		{Name: "ethbulk", What: "messages of 1 MiB, raw Ethernet",
			Ours: bulk, Against: systemsDoing(bulk, "iperf3"), Limit: 1, AtLeast: true},
		{Name: "eth64k", What: "messages of 64 KiB, raw Ethernet",
			Ours: pieces, Against: systemsDoing(pieces, "iperf3"), Limit: 0.9, AtLeast: true},
		{Name: "udphosts64", What: "64 B, UDP",
			Ours: datagrams, Against: systemsDoing(datagrams, "tcp"), Limit: 0.55},
		{Name: "sealedbulk", What: "messages of 1 MiB, UDP, encrypted",
			Ours: sealed, Against: systemsDoing(sealed, "tls"), Limit: 1.3, AtLeast: true},
		{Name: "ethrate", What: "messages of 64 B, one pair, raw Ethernet",
			Ours: many, Against: systemsDoing(many, "udp"), Limit: 2, AtLeast: true},
		{Name: "reaping", What: "64 B, polling, against asleep",
			Ours: one, Against: weftDoing("asleep", asleep), Limit: 0.5},
		{Name: "interrupt", What: "64 B, polling, against an interrupt that brings the packet",
			Ours: one, Against: weftDoing("interrupt", interrupted), Limit: 0.79}, // [Sumimoto00], interrupt reaping
	}
	return slices.Concat(targets, ethLibraryTargets(one),
		besideTargets([][2]string{{"eth", "raw Ethernet"}, {"udp", "UDP"}, {"tcp", "TCP"}}))
}
