package perf

// streamBars are about net.Conn as package stream makes them, between two processes,
// against a Unix socket that is used in the same way.
func streamBars() []Bar {
	ping, bulk := spec("latency", "send", 64), spec("bandwidth", "send", 64<<10)
	asleep := ping.with(func(s *Spec) { s.Blocked = true })
	bar := func(name, what string, s Spec, limit float64, least bool) Bar {
		return Bar{Name: name, What: what, Ours: s, Theirs: rivals(s, "unix"), Limit: limit, Least: least, system: Find("stream")}
	}
	return []Bar{
		bar("streamping", "net.Conn, 64 B there and back, both poll, against a Unix socket", ping, 0.1, false),
		bar("streamasleep", "the same, both asleep", asleep, 0.6, false),
		bar("stream64k", "net.Conn, writes of 64 KiB, against a Unix socket", bulk, 2, true),
	}
}
