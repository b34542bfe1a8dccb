package hwmodel

import "slices"

// LANai models Myrinet with the LANai 4.1 and the four libraries on it: [Konishi97], whose figures are lost and
// whose text gives few totals.
func LANai() Table {
	return Table{
		Name: "lanai",
		Title: "Myrinet, LANai 4.1 on PCI, Pentium Pro 200 MHz ([Konishi97]): " +
			"four libraries from PIO, DMA, copy blocks and link",
		Paths: []Named{
			{"AM, a request of 16 bytes", amPipeline(16).Path(16), 0}, {"AM, a store of 64 bytes", amPipeline(64).Path(64), 0},
			{"AM, a store of 4 KiB", amPipeline(page).Path(page), 0},
			{"FM, a packet of 64 bytes", fmPipeline(64).Path(64), 0}, {"VMMC, 64 bytes", vmmcPipeline(64).Path(64), 0},
			{"VMMC, 4 KiB", vmmcPipeline(page).Path(page), 0}, {"PM, 64 bytes", pmPipeline(64).Path(64), 0},
			{"VMMC, 4 KiB, a page that is not pinned", vmmcFirst(page).Path(page), 0},
			{"FM with write combining and a cached copy block, 64 bytes", fmCached(64).Path(64), 0},
		},
		Results: slices.Concat(lanaiDMA(), lanaiLong(), lanaiCached(), lanaiRatios(), lanaiAuthors()),
		Charts:  append(lanaiCharts(), lanaiCachedCharts()...),
		Notes: []string{
			"A packet is stored in the card's memory before it goes on. Programs on the host and credits take no time here,",
			"since the paper does not say how long they take; switches and the card's program take what is assumed.",
			"Figures 3 and 7: of copies the text has the two rates of copy blocks that are not cached; of write combining",
			"and cached copy blocks it says that the gain is large, and that VMMC stays ahead.",
		},
	}
}

// lanaiDMA compares transfers between host and card.
func lanaiDMA() []Result {
	cross := crossing(part(pioWrite), part(dma), page)
	return []Result{
		{
			What: "DMA of 4 KiB", Paper: pageDMARate.V, Model: exact(page).over(Path{dma("", page)}.mean()), Unit: "MB/s",
			Note: "the start of a DMA was computed from it",
		},
		{
			What: "a DMA becomes faster than a PIO write", Paper: pioFasterTo, Model: cross, Unit: "B",
			Note: "the paper: PIO is faster up to 256 B; in powers of two that is from 257 to 512, and nothing is left",
		},
	}
}

// lanaiVMMC is VMMC's rate of long messages.
func lanaiVMMC() Figure {
	return slowest(pageDMARate.figure(), linkRate.figure())
}

// lanaiLong compares what limits the libraries' rates of long messages.
func lanaiLong() []Result {
	hidden := slowest(busRate.figure(), linkRate.figure())
	fm := slowest(pioWriteRate.figure(), linkRate.figure(), busRate.figure(), copyOutRate.figure())
	am := slowest(copyInRate.figure(), pageDMARate.figure(), linkRate.figure(), copyOutRate.figure())
	return []Result{
		{
			What: "VMMC, long messages", Paper: 100, Text: "> 100 MB/s", Model: lanaiVMMC(), Unit: "MB/s",
			Note: "the slowest of DMA by pages, link and DMA by pages",
		},
		{
			What: "the same, if each DMA's start were hidden", Paper: 100, Text: "> 100 MB/s", Model: hidden, Unit: "MB/s",
			Says: Hypothetical,
			Note: "behind the DMA before: the most that the bus allows",
		},
		{
			What: "VMMC, 4 KiB one way, from a page that is pinned", Model: vmmcPipeline(page).Latency(page), Unit: "us",
			Note: "two DMAs of a page, and the link",
		},
		{
			What: "VMMC, 4 KiB one way, from a page that is not", Model: vmmcFirst(page).Latency(page), Unit: "us",
			Note: "of long messages a page is pinned while the page before is sent, so their bandwidth is the same",
		},
		{
			What: "AM, long messages", Text: "far less", Model: am, Unit: "MB/s",
			Note: "the slowest is the copy out of the copy block",
		},
		{
			What: "FM, long messages", Text: "far less", Model: fm, Unit: "MB/s",
			Note: "the same copy; a PIO write would have to be slower than that to matter",
		},
	}
}

// lanaiRatios compares the libraries with each other.
func lanaiRatios() []Result {
	const long = 1 << 16
	latency := func(a, b func(int) Pipeline, n int) Figure { return a(n).Latency(n).over(b(n).Latency(n)) }
	overhead := func(a, b func(int) Pipeline, n int) Figure { return a(n).Overhead(n).over(b(n).Overhead(n)) }
	return []Result{
		{
			What: "VMMC / FM, bandwidth, 64 KiB", Text: "far above 1",
			Model: vmmcPipeline(long).Bandwidth(long).over(fmPipeline(long).Bandwidth(long)),
			Note:  "with headers and packets",
		},
		{
			What: "AM / FM, latency, 64 B", Text: "> 1", Model: latency(amPipeline, fmPipeline, 64),
			Note: "two copies, two DMAs and a read by PIO, against one of each",
		},
		{
			What: "AM / FM, latency, 16 B", Text: "> 1", Model: latency(amPipeline, fmPipeline, 16),
			Note: "not as the paper: its parts give FM a DMA of 10 us here, and AM's read by PIO is 4 us",
		},
		{What: "AM / FM, overhead, 16 B", Text: "> 1", Model: overhead(amPipeline, fmPipeline, 16), Note: "the read by PIO"},
		{
			What: "AM / FM, overhead, 64 B", Text: "> 1", Model: overhead(amPipeline, fmPipeline, 64),
			Note: "the same, and one copy more",
		},
		{
			What: "VMMC / FM, overhead, 64 B", Text: "< 1", Model: overhead(vmmcPipeline, fmPipeline, 64),
			Note: "the receiver's processor does nothing",
		},
		{
			What: "VMMC / FM, overhead, 4 KiB", Text: "< 1", Model: overhead(vmmcPipeline, fmPipeline, page),
			Note: "the sender's processor only asks for it",
		},
	}
}

// lanaiAuthors puts the model beside what the authors of VMMC and PM measured on machines of their own.
func lanaiAuthors() []Result {
	const authors = "measured by VMMC's authors on other machines, not in [Konishi97]; "
	return []Result{
		{
			What: "VMMC, long messages, its authors", Paper: 108.4, Model: lanaiVMMC(), Unit: "MB/s", Says: OtherMachine,
			Note: authors + "starts of DMAs that are partly hidden",
		},
		{
			What: "VMMC, 4 B one way, its authors", Paper: 9.8, Model: vmmcPipeline(4).Latency(4), Unit: "us",
			Says: OtherMachine,
			Note: authors + "a DMA of few bytes starts faster than the line through 4 KiB says",
		},
		{
			What: "PM, 8 KiB, its authors", Paper: 108.8, Model: pmPipeline(8192).Bandwidth(8192), Unit: "MB/s",
			Says: OtherMachine,
			Note: "measured by PM's authors between memory of the program, with a pin-down cache that always hits; " +
				"the model is of PM's own buffers, not in [Konishi97]",
		},
	}
}

// part returns a function from bytes to the part that moves them.
func part(of func(string, int) Part) func(int) Part {
	return func(bytes int) Part { return of("", bytes) }
}

// rateOf returns the rate of a part that moves bytes.
func rateOf(of func(string, int) Part) func(int) Figure {
	return func(n int) Figure { return exact(float64(n)).over(Path{of("", n)}.mean()) }
}

// lanaiCharts returns the curves of the paper's figures 2, 4, 5 and 6.
func lanaiCharts() []Chart {
	over := lengths(4, 1<<16)
	charts := []Chart{
		{Name: "transfer", Title: "Transfer between host and card (figure 2)", Unit: "MB/s", Lines: []Line{
			line("PIO write", over, rateOf(pioWrite)), line("PIO read", over, rateOf(pioRead)), line("DMA", over, rateOf(dma)),
		}},
		{Name: "latency", Title: "Latency, one way (figure 4)", Unit: "us"},
		{Name: "overhead", Title: "Overhead of both processors (figure 5)", Unit: "us"},
		{Name: "bandwidth", Title: "Bandwidth, one direction (figure 6)", Unit: "MB/s"},
	}
	figures := []func(Pipeline, int) Figure{nil, Pipeline.Latency, Pipeline.Overhead, Pipeline.Bandwidth}
	for c := 1; c < len(charts); c++ {
		for _, lib := range libraries {
			of := func(n int) Figure { return figures[c](lib.pipe(n), n) }
			charts[c].Lines = append(charts[c].Lines, line(lib.name, over, of))
		}
	}
	return charts
}
