package perf

// libraryTargets compare the user-level libraries with what they are built on: weft's messages and PUSH.
func libraryTargets() []Target {
	latency := func(op string, size int) Spec { return spec("latency", op, size) }
	bandwidth := func(op string, size int) Spec { return spec("bandwidth", op, size) }
	return []Target{
		{Name: "am8", What: "am, request and reply, 8 B, half a round trip",
			Ours: latency("am", 8), Against: weftDoing("a message", latency("send", 8)), Limit: 1.3},
		{Name: "fm8", What: "fm, message of 8 B in one piece",
			Ours: latency("fm", 8), Against: weftDoing("a message", latency("send", 8)), Limit: 1.8},
		{Name: "vmmc8", What: "vmmc, send of 8 B, polling peer",
			Ours: latency("vmmc", 8), Against: weftDoing("push", latency("push", 8)), Limit: 1.1},
		{Name: "vmmc1m", What: "vmmc, 1 MiB", AtLeast: true,
			Ours: bandwidth("vmmc", 1<<20), Against: weftDoing("push", bandwidth("push", 1<<20)), Limit: 0.95},
		{Name: "pm8", What: "pm, message of 8 B",
			Ours: latency("pm", 8), Against: weftDoing("a message", latency("send", 8)), Limit: 1.15},
		{Name: "pm8k", What: "pm, message of 8 KiB",
			Ours: latency("pm", 8<<10), Against: weftDoing("a message", latency("send", 8<<10)), Limit: 1.1},
		{Name: "am64k", What: "am, store of 64 KiB, one way", AtLeast: true,
			Ours: bandwidth("am", 64<<10), Against: weftDoing("a message", bandwidth("send", 64<<10)), Limit: 0.8},
		{Name: "fm64k", What: "fm, messages of 64 KiB, one way", AtLeast: true,
			Ours: bandwidth("fm", 64<<10), Against: weftDoing("a message", bandwidth("send", 64<<10)), Limit: 0.5},
	}
}

// ethLibraryTargets compare each library between hosts with one of weft's messages, all of the size of one.
func ethLibraryTargets(one Spec) []Target {
	var targets []Target
	for _, name := range Libraries {
		targets = append(targets, Target{
			Name: "eth" + name, What: name + " over raw Ethernet, 64 B",
			Ours: one.with(func(s *Spec) { s.Op = name }), Against: weftDoing("a message", one), Limit: 1.2,
		})
	}
	return targets
}
