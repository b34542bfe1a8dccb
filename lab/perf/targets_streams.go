package perf

// streamTargets compare the connections of package stream (net.Conn), between two processes of a host, with
// a Unix socket that is used in the same way.
func streamTargets() []Target {
	ping := spec("latency", "send", 64)
	bulk := spec("bandwidth", "send", 64<<10)
	asleep := ping.with(func(s *Spec) { s.Blocked = true })
	target := func(name, what string, s Spec, limit float64, atLeast bool) Target {
		return Target{
			Name: name, What: what, Ours: s, Against: systemsDoing(s, "unix"), Limit: limit, AtLeast: atLeast,
			system: Find("stream"),
		}
	}
	return []Target{
		target("streamping", "stream, 64 B, both poll", ping, 0.1, false),
		target("streamasleep", "stream, 64 B, both asleep", asleep, 0.6, false),
		target("stream64k", "stream, writes of 64 KiB", bulk, 2, true),
	}
}
