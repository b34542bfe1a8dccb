package hwmodel

import "time"

// clock is a cycle of DIMMnet-2's network controller, which runs at 100 MHz.
const clock = 10 * time.Nanosecond

func clocks(name string, n int, from string) Part {
	return us(name, float64(n)*micros(clock), OfParts, from)
}

// DIMMnet models the receiving side of DIMMnet-2 and the path of a message through it: [Kitamura06],
// tables 2, 3 and 7, with 16 bytes of header and 8 of data.
func DIMMnet() Table {
	const ( // half of the measured round trips, table 7
		pushUS    = 3.48 / 2
		ipushUS   = 3.56 / 2
		copiedUS  = 7.68 / 2
		copiedIUS = 7.78 / 2
	)
	const ( // the highest bandwidths of ping-pong, figure 8, MB/s
		pushMBs  = 644
		ipushMBs = 643
		long     = 1 << 20 // bytes of a long message
	)
	packet := &Input{"a packet", 2048, "B", OfAssumption, "assumed: as on the network of the predecessor"}
	push := receive(false)
	ipush := receive(true)
	left := transit(false)
	leftI := transit(true)
	copied := append(transit(false), fetch(false)...)
	copiedI := append(transit(true), fetch(true)...)

	cycles := func(p Path) Figure { return p.mean().over(exact(micros(clock))) }
	mean := Path.mean
	rate := func(p Path) Figure { return exact(long).over(mean(stream(p, long))) }
	each := packet.figure().over(total(pushMBs)) // us for a packet at the measured bandwidth
	late := each.plus(exact(micros(4 * clock)))
	const (
		cycle  = "clocks"
		micro  = "us"
		mbytes = "MB/s"
	)
	return Table{
		Name: "dimmnet", Title: "DIMMnet-2, 100 MHz controller ([Kitamura06], tables 2, 3 and 7)",
		Paths: dimmnetPaths(),
		Results: append([]Result{
			constructed("receive a PUSH", 20, cycles(push), cycle, "the sum of the paper's own table"),
			constructed("receive an IPUSH", 24, cycles(ipush), cycle, "the sum of the paper's own table"),
			compared("PUSH, one way", pushUS, mean(left), micro,
				span(left)+"; the paper leaves the delay of the cables, α, open"),
			compared("IPUSH, one way", ipushUS, mean(leftI), micro, span(leftI)+"; the same α"),
			compared("IPUSH − PUSH", ipushUS-pushUS, mean(leftI.without(left)).minus(mean(left.without(leftI))), micro,
				"4 clocks: Head and Tail, start, end, room"),
			compared("PUSH and copy, one way", copiedUS, mean(copied), micro, span(copied)+
				"; the paper: measuring the parts changes when cache lines are flushed and fetched"),
			compared("IPUSH and copy, one way", copiedIUS, mean(copiedI), micro, span(copiedI)),
			compared("IPUSH and copy − PUSH and copy", copiedIUS-copiedUS, mean(copiedI.without(copied)).minus(mean(copied.without(copiedI))), micro,
				"1 clock more: Head is moved after the read"),
			compared("PUSH, bandwidth", pushMBs, rate(left), mbytes,
				"a word of 8 bytes a clock: nothing in the tables is slower. What is left is headers and gaps between packets, "+
					"whose length the paper does not give"),
			compared("IPUSH, bandwidth", ipushMBs, rate(leftI), mbytes,
				"the 4 clocks count once: they overlap with the data of the packet before"),
			compared("bandwidth, IPUSH / PUSH", ipushMBs/float64(pushMBs), rate(leftI).over(rate(left)), "",
				"the paper's two figures are rounded: 0.997 to 1"),
			{
				What: "the same, if each packet of 2 KiB waited 4 clocks", Paper: ipushMBs / float64(pushMBs),
				Model: each.over(late), Says: Hypothetical,
				Note: "too little: so the clocks do overlap, or packets are longer than 8 KiB",
			},
		}, dimmnetBeside(leftI)...),
		Charts: dimmnetCharts(left, leftI),
		Notes: []string{
			"Of polling the paper assumes that it detects an arrival after 0.5 to 1.5 times an access of 0.189 us, which it",
			"measured on an ordinary memory module. The model's figure is the mean.",
			"Tables 2 and 7 time different spans: 20 clocks with the status are 0.20 us, parts D and E are 0.512.",
			"Only the difference of 4 clocks can be compared.",
		},
	}
}

// dimmnetBeside returns what stands beside the paper's measurements: another mechanism, the condition of which the
// text has no figure, and the hardware that the controller takes.
func dimmnetBeside(ipush Path) []Result {
	return []Result{
		{
			What: "IPUSH, one way, if each message took an interrupt and two system calls", Unit: "us", Says: Hypothetical,
			Model: ipush.mean().plus(zeroCopy().mean()),
			Note:  "the least that Active Zero-copy needs, to pin and to map; their times are those of [Sumimoto00]",
		},
		compared("IPUSH and copy, uncachable (condition 5), long messages", 0, exact(8).over(access.figure()), "MB/s",
			"an access for each word; condition 4 is as slow above 64 KiB, where the cache no longer hits, says the paper"),
		constructed("block RAM with IPUSH (table 4)", 47, blocks.figure().times(100.0/328), "%",
			"155 of 328, 6 more than without"),
		constructed("slices with IPUSH (table 4)", 48, slicesUsed.figure().times(100.0/33088), "%",
			"15,913 of 33,088, 121 more than without"),
	}
}

// dimmnetPaths returns the paths of DIMMnet-2 that the paper measures as a whole [Kitamura06].
func dimmnetPaths() []Named {
	return []Named{
		{"receiving a PUSH of 24 bytes", receive(false), 0},
		{"receiving an IPUSH of 24 bytes", receive(true), 0},
		{"PUSH, one way, left where it lands", transit(false), 0},
		{"IPUSH, one way, left where it lands", transit(true), 0},
		{"copying a PUSH to main memory", fetch(false), 0},
		{"copying an IPUSH to main memory", fetch(true), 0},
	}
}

// dimmnetCharts returns the latency and the bandwidth of messages that are left where they land, by length.
func dimmnetCharts(push, ipush Path) []Chart {
	latency := func(p Path) func(int) Figure { return func(n int) Figure { return stream(p, n).mean() } }
	rate := func(p Path) func(int) Figure {
		return func(n int) Figure { return exact(float64(n)).over(stream(p, n).mean()) }
	}
	over := lengths(8, 1<<20)
	return []Chart{
		{
			Name: "latency", Title: "DIMMnet-2: latency, one way, left where it lands", Unit: "us",
			Lines: []Line{line("PUSH", over, latency(push)), line("IPUSH", over, latency(ipush))},
		},
		{
			Name: "bandwidth", Title: "DIMMnet-2: bandwidth of ping-pong (figure 8)", Unit: "MB/s",
			Lines: []Line{line("PUSH", over, rate(push)), line("IPUSH", over, rate(ipush))},
		},
		{
			Name: "copied", Title: "DIMMnet-2: bandwidth of ping-pong, copied to main memory (figure 8)", Unit: "MB/s",
			Lines: []Line{line("condition 4", over, cached), line("condition 5, uncachable", over, uncached)},
		},
	}
}

// The hardware that the controller takes on its FPGA: table 4.
var (
	blocks     = &Input{"blocks of RAM", 155, "", OfParts, "table 4"}
	slicesUsed = &Input{"slices", 15913, "", OfParts, "table 4"}
)

// zeroCopy returns what Active Zero-copy does for each message besides: the card interrupts the host, which pins memory
// for the message and maps it.
func zeroCopy() Path {
	const from = "[Sumimoto00], table 3"
	return Path{us("an interrupt", 5.9, OfElsewhere, from), us("two system calls", 2*1.6, OfElsewhere, from)}
}

// kept is how much of a message the host's cache takes while it is copied: above, lines are flushed and fetched too
// late, says the paper of messages of more than 64 KiB.
const kept = 64 << 10

// uncached returns the bandwidth of a message of n bytes that is copied word by word: condition 5.
func uncached(n int) Figure {
	words := access.figure().times(float64(n / 8))
	return exact(float64(n)).over(append(transit(true), fetch(true)...).mean().plus(words))
}

// cached returns the same where the cache helps: condition 4. The rate up to 64 KiB is the one that was measured.
func cached(n int) Figure {
	near := exact(float64(min(n, kept))).over(total(241))
	far := access.figure().times(float64(max(n-kept, 0) / 8))
	return exact(float64(n)).over(append(transit(true), fetch(true)...).mean().plus(near).plus(far))
}

// span says how far the time of a path ranges.
func span(p Path) string {
	least, _, most := p.Walk()
	return "from " + least.Round(10*time.Nanosecond).String() + " to " + most.Round(10*time.Nanosecond).String() +
		", by when the poll looks"
}

// receive returns what the controller does with a packet: tables 2 and 3.
func receive(ipush bool) Path {
	from := "table 2"
	first := "first word of the header"
	if ipush {
		from = "table 3"
		first = "first word of the header, and AMT Address Table"
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

// access is how long an access to an ordinary memory module takes. Of F and J the paper gives only the range that it
// assumes for a module with the network interface: 0.5 to 1.5 times as long.
var access = &Input{"an access to an ordinary memory module", 0.189, "us", OfAssumption,
	"table 7; assumed by the paper: 0.5 to 1.5 accesses of 0.189 us to an ordinary memory module"}

// polled returns a part that ends when the processor next looks: table 7, F and J.
func polled(name string) Part {
	return Part{Name: name, Min: 95 * time.Nanosecond, Max: 284 * time.Nanosecond, Reads: []*Input{access}}
}

// The parts of table 7.
var (
	partA  = us("A request to send", 0.093, OfParts, host)
	partB  = us("B packet sent", 0.428, OfParts, rtl)
	partC  = us("C network", 0.385, OfElsewhere, book)
	partD  = us("D packet received", 0.472, OfParts, rtl)
	partDI = us("D packet received", 0.512, OfParts, rtl)
	partE  = us("E status written", 0.040, OfParts, rtl)
	partG  = us("G status read", 0.312, OfParts, host)
	partH  = us("H request to read", 0.101, OfParts, host)
	partI  = us("I DIMM to prefetch window", 0.240, OfParts, rtl)
	partII = us("I DIMM to prefetch window", 0.250, OfParts, rtl)
	partK  = us("K, L copied to main memory", 0.605, OfParts, host)
)

// transit returns the path of a message that is left where it lands: table 7, A to F.
func transit(ipush bool) Path {
	received := partD
	if ipush {
		received = partDI
	}
	return Path{partA, partB, partC, received, partE, polled("F arrival detected")}
}

// fetch returns what is added where the message is copied: table 7, G to L.
func fetch(ipush bool) Path {
	read := partI
	if ipush {
		read = partII
	}
	return Path{partG, partH, read, polled("J end of the read detected"), partK}
}

// word is the time of a word of 8 bytes.
var word = &Input{"a word", micros(clock), "us", OfAssumption, "assumed: a word a clock, as table 2 has for the first"}

// stream returns the path of a message of n bytes: the first word takes the whole path, and each word
// after it arrives one clock later.
func stream(p Path, n int) Path {
	rest := lasting("the other words", float64(n/8-1)*word.V, word)
	return append(append(Path{}, p...), rest)
}
