package perf

// libraryBars compares the user-level libraries with what they are made of: weft's messages and PUSH.
func libraryBars() []Bar {
	message := func(test string, size int) []Rival { return []Rival{{Weft, "a message", spec(test, "send", size)}} }
	push := func(test string, size int) []Rival { return []Rival{{Weft, "push", spec(test, "push", size)}} }
	return []Bar{
		{Name: "am8", What: "am request and reply of 8 B, half a round trip, against a message", Ours: spec("latency", "am", 8),
			Theirs: message("latency", 8), Limit: 1.3},
		{Name: "fm8", What: "fm message of 8 B in one piece, against a message", Ours: spec("latency", "fm", 8),
			Theirs: message("latency", 8), Limit: 1.8},
		{Name: "vmmc8", What: "vmmc send of 8 B seen by a polling peer, against PUSH", Ours: spec("latency", "vmmc", 8),
			Theirs: push("latency", 8), Limit: 1.1},
		{Name: "vmmc1m", What: "vmmc, 1 MiB, against PUSH", Ours: spec("bandwidth", "vmmc", 1<<20),
			Theirs: push("bandwidth", 1<<20), Limit: 0.95, Least: true},
		{Name: "pm8", What: "pm message of 8 B, against weft's", Ours: spec("latency", "pm", 8),
			Theirs: message("latency", 8), Limit: 1.15},
		{Name: "pm8k", What: "pm message of 8 KiB, against weft's", Ours: spec("latency", "pm", 8<<10),
			Theirs: message("latency", 8<<10), Limit: 1.1},
		{Name: "am64k", What: "am store of 64 KiB, one way, against messages", Ours: spec("bandwidth", "am", 64<<10),
			Theirs: message("bandwidth", 64<<10), Limit: 0.8, Least: true},
		{Name: "fm64k", What: "fm messages of 64 KiB, one way, against weft's", Ours: spec("bandwidth", "fm", 64<<10),
			Theirs: message("bandwidth", 64<<10), Limit: 0.5, Least: true},
	}
}

// ethLibraryBars compares the libraries between hosts with a message, all of 64 B.
func ethLibraryBars(one Spec) []Bar {
	var bars []Bar
	for _, name := range Libraries {
		bars = append(bars, Bar{
			Name: "eth" + name, What: name + " over raw Ethernet, 64 B, against a message", Ours: one.with(func(s *Spec) { s.Op = name }),
			Theirs: []Rival{{Weft, "a message", one}}, Limit: 1.2,
		})
	}
	return bars
}
