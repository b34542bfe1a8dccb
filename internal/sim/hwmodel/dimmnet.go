package hwmodel

import "time"

// clock is a cycle of DIMMnet-2's network controller, which runs at 100 MHz.
const clock = 10 * time.Nanosecond

func clocks(name string, n int, from string) Part {
	return Part{Name: name, Min: time.Duration(n) * clock, Max: time.Duration(n) * clock, From: from}
}

// DIMMnet is the receiving side of DIMMnet-2 and the way of a message through it
// (paper 002, tables 2, 3 and 7; 16 bytes of header and 8 of data).
func DIMMnet() Table {
	push, ipush := receive(false), receive(true)
	oneWay, oneWayI := way(false), way(true)
	copied, copiedI := append(way(false), fetch(false)...), append(way(true), fetch(true)...)

	cycles := func(p Path) Figure { return p.mean().over(Figure{V: micros(clock)}) }
	mean := Path.mean
	const ( // half of the measured round trips, table 7
		pushUS, ipushUS     = 3.48 / 2, 3.56 / 2
		copiedUS, copiedIUS = 7.68 / 2, 7.78 / 2
	)
	const ( // the most of ping-pong, figure 8, MB/s
		pushMBs, ipushMBs = 644, 643
		long              = 1 << 20 // bytes of a message that is long
		packet            = 2048    // bytes of a packet, as in the network before
	)
	rate := func(p Path) Figure { return Figure{V: long}.over(mean(stream(p, long))) }
	each := Figure{V: packet}.over(total(pushMBs)) // us for a packet at what was measured
	late := each.plus(Figure{V: micros(4 * clock)})
	return Table{
		Name: "dimmnet", Title: "DIMMnet-2, 100 MHz controller (paper 002, tables 2, 3 and 7)",
		Paths: []Named{
			{"receiving a PUSH of 24 bytes", push}, {"receiving an IPUSH of 24 bytes", ipush},
			{"PUSH, one way, left where it lands", oneWay}, {"IPUSH, one way, left where it lands", oneWayI},
			{"and to copy what was pushed to main memory", fetch(false)}, {"and to copy what was ipushed", fetch(true)},
		},
		Results: []Result{
			{"receive a PUSH", 20, cycles(push), "clocks", ByConstruction, "the sum of its own table", ""},
			{"receive an IPUSH", 24, cycles(ipush), "clocks", ByConstruction, "the sum of its own table", ""},
			{"PUSH, one way", pushUS, mean(oneWay), "us", "", span(oneWay), ""},
			{"  of that not explained", 0, total(pushUS).minus(mean(oneWay)), "us", Residual, "the paper leaves the delay of the cables, α, open", ""},
			{"IPUSH, one way", ipushUS, mean(oneWayI), "us", "", span(oneWayI), ""},
			{"  of that not explained", 0, total(ipushUS).minus(mean(oneWayI)), "us", Residual, "the same α", ""},
			{"IPUSH − PUSH", ipushUS - pushUS, mean(oneWayI).minus(mean(oneWay)), "us", "", "4 clocks: Head and Tail, start, end, room", ""},
			{"PUSH and copy, one way", copiedUS, mean(copied), "us", "", span(copied), ""},
			{"  of that not explained", 0, total(copiedUS).minus(mean(copied)), "us", Residual, "the paper: measuring the parts changes when cache lines are flushed and fetched", ""},
			{"IPUSH and copy, one way", copiedIUS, mean(copiedI), "us", "", span(copiedI), ""},
			{"  of that not explained", 0, total(copiedIUS).minus(mean(copiedI)), "us", Residual, "the same", ""},
			{"the same, IPUSH − PUSH", copiedIUS - copiedUS, mean(copiedI).minus(mean(copied)), "us", "", "1 clock more: Head is moved after the read", ""},
			{"PUSH, bandwidth", pushMBs, rate(oneWay), "MB/s", "", "a word of 8 bytes a clock: nothing in the tables is slower", ""},
			{"  of that not explained", 0, total(pushMBs).minus(rate(oneWay)), "MB/s", Residual, "headers and gaps between packets, whose length the paper does not give", ""},
			{"IPUSH, bandwidth", ipushMBs, rate(oneWayI), "MB/s", "", "the 4 clocks once: they overlap with the data of the packet before", ""},
			{"bandwidth, IPUSH / PUSH", ipushMBs / float64(pushMBs), rate(oneWayI).over(rate(oneWay)), "", "", "the paper's two figures are rounded: 0.997 to 1", ""},
			{"the same, did each packet of 2 KiB wait 4 clocks", ipushMBs / float64(pushMBs), each.over(late), "", "", "too little: so they do overlap, or packets are longer than 8 KiB", ""},
		},
		Notes: []string{
			"Polling detects after 0.5 to 1.5 times an access of 0.189 us; the model's figure is the mean.",
			"Tables 2 and 7 time different spans: 20 clocks with the status are 0.20 us, parts D and E are 0.512. Only the difference of 4 clocks can be compared.",
		},
	}
}

func span(p Path) string {
	least, _, most := p.Walk()
	return "from " + least.Round(10*time.Nanosecond).String() + " to " + most.Round(10*time.Nanosecond).String() + ", as polling strikes it"
}

// receive is what the controller does with a packet: tables 2 and 3.
func receive(ipush bool) Path {
	from := "table 2"
	first := "first word of the header"
	if ipush {
		from, first = "table 3", "first word of the header, and AMT Address Table"
	}
	p := Path{
		clocks("packet detected", 0, from), clocks("header asked for", 1, from), clocks(first, 1, from),
		clocks("second word of the header", 1, from), clocks("header decoded, write unit started", 1, from),
	}
	if ipush {
		p = append(p, clocks("Head and Tail fetched", 1, from), clocks("start of the area", 1, from),
			clocks("end of the area", 1, from), clocks("is there room", 1, from))
	}
	return append(p, clocks("address and size", 2, from), clocks("data asked for", 1, from), clocks("data", 1, from),
		clocks("right to write asked for", 1, from), clocks("right to write", 1, from), clocks("DIMM written", 6, from),
		clocks("status written", 4, from))
}

const (
	rtl  = "table 7; simulated at register transfer level"
	host = "table 7; measured on the host"
	book = "table 7; from an earlier paper; the cable's delay α comes on top"
)

// way is what a message goes through that is left where it lands: table 7, A to F.
func way(ipush bool) Path {
	received := us("D packet received", 0.472, rtl)
	if ipush {
		received = us("D packet received", 0.512, rtl)
	}
	return Path{
		us("A request to send", 0.093, host), us("B packet sent", 0.428, rtl), us("C network", 0.385, book),
		received, us("E status written", 0.040, rtl), between("F arrival detected", 0.095, 0.284, host),
	}
}

// stream is the way of a message of n bytes: the first word goes all of it, and each
// that follows comes a clock later.
func stream(p Path, n int) Path {
	words := time.Duration(n/8-1) * clock
	rest := Part{Name: "the other words", Min: words, Max: words, From: "assumed: a word a clock, as table 2 has for the first", Of: OfAssumption}
	return append(append(Path{}, p...), rest)
}

// fetch is what comes on top where the message is copied: table 7, G to L.
func fetch(ipush bool) Path {
	read := us("I DIMM to prefetch window", 0.240, rtl)
	if ipush {
		read = us("I DIMM to prefetch window", 0.250, rtl)
	}
	return Path{
		us("G status read", 0.312, host), us("H request to read", 0.101, host), read,
		between("J end of the read detected", 0.095, 0.284, host), us("K, L copied to main memory", 0.605, host),
	}
}
