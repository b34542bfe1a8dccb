package hwmodel

// What [Konishi97] changes in AM and FM for its figure 7: the processor writes to the card through its write-combining
// buffer, and copy blocks are cached. The paper has no rate of either, so both follow from the bus and from assumptions
// about the memory.
var (
	cacheSize = &Input{"second-level cache", 512 << 10, "B", OfParts, "§4.1: 512 KB"}
	lineTime  = &Input{"a line of 32 bytes, from memory or to it", 0.165, "us", OfAssumption,
		"assumed: EDO memory, 5-2-2-2 clocks of 66 MHz"}
	cachedRate = &Input{"copy within the cache", 400, "MB/s", OfAssumption,
		"assumed: a word of 4 bytes in two clocks of 200 MHz"}
)

// lineBytes is what a cache line and a write-combining buffer of the Pentium Pro hold.
const (
	lineBytes = 32
	wordBytes = 4
)

// linesOf returns in how many lines bytes are.
func linesOf(bytes int) float64 { return float64((bytes + lineBytes - 1) / lineBytes) }

// combinedWrite returns a write into the card's memory through the write-combining buffer. Each line is one burst on
// the bus: it starts as a single word does, whose time is that of a PIO write, and then the words follow at the rate of
// the bus.
func combinedWrite(name string, bytes int) Part {
	start := wordBytes/pioWriteRate.V - wordBytes/busRate.V
	return lasting(name, linesOf(bytes)*(start+lineBytes/busRate.V), pioWriteRate, busRate)
}

// cachedCopy returns a copy that fetches or writes back so many lines of memory for each line that it copies.
func cachedCopy(name string, bytes int, lines float64) Part {
	t := float64(bytes)/cachedRate.V + lines*linesOf(bytes)*lineTime.V
	if lines == 0 {
		return lasting(name, t, cachedRate)
	}
	return lasting(name, t, cachedRate, lineTime)
}

// userCopy returns a copy between ordinary memory. Of what the cache does not hold, the source is fetched, and the
// destination is fetched and written back.
func userCopy(name string, bytes int) Part {
	lines := 0.0
	if 2*bytes > int(cacheSize.V) {
		lines = 3
	}
	return cachedCopy(name, bytes, lines).reading(cacheSize)
}

// cachedIn returns a copy to a cached copy block. The block's lines have to be fetched, since the card has read them
// before, and written back when it reads them again.
func cachedIn(name string, bytes int) Part { return cachedCopy(name, bytes, 2) }

// cachedOut returns a copy from a cached copy block, which the card has written in memory.
func cachedOut(name string, bytes int) Part { return cachedCopy(name, bytes, 1) }

// amCached is Active Messages with cached copy blocks, and descriptors through the write-combining buffer.
func amCached(bytes int) Pipeline {
	p := amPipeline(bytes)
	if bytes <= shortest {
		p.Stages[0] = fixed(SenderCPU, combinedWrite, "request written by PIO", amDescriptor)
		return p
	}
	p.Stages[0] = payload(SenderCPU, cachedIn, "copied to the cached copy block")
	p.Stages[1] = fixed(SenderCPU, combinedWrite, "descriptor written by PIO", amDescriptor)
	p.Stages[len(p.Stages)-1] = payload(ReceiverCPU, cachedOut, "copied from the cached copy block")
	return p
}

// fmCached is Fast Messages with the same.
func fmCached(bytes int) Pipeline {
	p := fmPipeline(bytes)
	p.Stages[0] = with(SenderCPU, combinedWrite, "packet written by PIO", descriptor)
	p.Stages[len(p.Stages)-1] = with(ReceiverCPU, cachedOut, "copied from the cached copy block", descriptor)
	return p
}

// lanaiCached compares what the paper's figure 7 shows, and says in words: far more than before, and less than VMMC.
func lanaiCached() []Result {
	const (
		long = 1 << 16
		says = "far more, below VMMC"
	)
	return []Result{
		{
			What: "AM with write combining and cached copy blocks, 64 KiB", Text: says,
			Model: amCached(long).Bandwidth(long), Unit: "MB/s", Note: "the slowest is the copy to the copy block",
		},
		{
			What: "FM with the same, 64 KiB", Text: says, Model: fmCached(long).Bandwidth(long), Unit: "MB/s",
			Note: "the slowest is the DMA of a packet of 1 KiB, a start of 10 us included",
		},
	}
}

// lanaiCachedCharts returns the curves of the paper's figures 3 and 7.
func lanaiCachedCharts() []Chart {
	bandwidth := func(of func(int) Pipeline) func(int) Figure {
		return func(n int) Figure { return of(n).Bandwidth(n) }
	}
	copies := lengths(16, 1<<20)
	over := lengths(4, 1<<16)
	return []Chart{
		{Name: "copies", Title: "Copies by the processor (figure 3)", Unit: "MB/s", Lines: []Line{
			line("user to user", copies, rateOf(userCopy)), line("user to copy block", copies, rateOf(copyIn)),
			line("copy block to user", copies, rateOf(copyOut)),
		}},
		{Name: "combining", Title: "Bandwidth with write combining and cached copy blocks (figure 7)", Unit: "MB/s",
			Lines: []Line{
				line("AM", over, bandwidth(amCached)), line("FM", over, bandwidth(fmCached)),
				line("VMMC", over, bandwidth(vmmcPipeline)),
			}},
	}
}
