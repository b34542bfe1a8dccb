package hwmodel

import "slices"

// The values that [Konishi97] gives for the parts: rates in bytes a microsecond, which are MB/s.
var (
	pioReadRate = &Input{"PIO read", 8, "MB/s", OfParts, "§4.1: 8 MB/s"}
	copyInRate  = &Input{"copy into a copy block", 25, "MB/s", OfParts, "§4.1: 25 MB/s, not cached"}
	copyOutRate = &Input{"copy out of a copy block", 15, "MB/s", OfParts, "§4.1: 15 MB/s, not cached"}
	busRate     = &Input{"PCI, which long DMAs fill", 133, "MB/s", OfParts, "§4.1: 133 MB/s"}
	pageDMARate = &Input{"DMA of a page", 100, "MB/s", OfParts, "§4.1: 100 MB/s for a page"}
	linkRate    = &Input{"link", 160, "MB/s", OfParts, "§2: 160 MB/s"}
	switches    = &Input{"switches on the way", 2, "", OfParts,
		"§4.1: four, each with four nodes and joined to all others, so 12 of 15 nodes are behind a second one"}
)

// Lengths in bytes.
const (
	page        = 4096
	pioFasterTo = 256 // §4.1: up to here a PIO write is faster than a DMA
	shortest    = 16  // am_request_4: four words (§3.2)
)

// The values that it does not give, and that are assumed here.
var (
	pioWriteRate = &Input{"PIO write", copyInRate.V, "MB/s", OfAssumption,
		"assumed: 25 MB/s, as a copy block, which is not cached either; the paper's figure 2 is lost"}
	dmaStart = &Input{"start of a DMA", page/pageDMARate.V - page/busRate.V, "us", OfAssumption,
		"assumed: a start and 133 MB/s, the line through the two figures of §4.1"}
	switchDelay = &Input{"a switch", 0.5, "us", OfAssumption, "assumed: half a microsecond until it has set up the way"}
	cardWork    = &Input{"the card's program, for a packet on each side", 60 / 33.0, "us", OfAssumption,
		"assumed: 60 instructions at the clock of PCI, 33 MHz"}
	amDescriptor = &Input{"a descriptor of AM", 32, "B", OfAssumption,
		"assumed: a descriptor of 32 bytes, as in LANai Active Messages"}
	descriptor = &Input{"a request or a header of FM, VMMC and PM", 16, "B", OfAssumption,
		"assumed: a header of 16 bytes"}
	requestPacket = &Input{"a request of AM", shortest, "B", OfParts, "§3.2: four words"}
	pagePacket    = &Input{"a packet of AM and VMMC", page, "B", OfParts, "§3.2, §4.1: a page"}
	fmPacket      = &Input{"a packet of FM", 1024, "B", OfAssumption, "assumed"}
	pmPacket      = &Input{"a packet of PM", 8192, "B", OfAssumption,
		"assumed: PM's longest message, in programs that call it"}
)

// moved returns a part that moves bytes at a rate.
func moved(name string, bytes int, rate *Input) Part {
	return lasting(name, float64(bytes)/rate.V, rate)
}

// pioWrite returns a write of the processor into the card's memory (programmed I/O).
func pioWrite(name string, bytes int) Part { return moved(name, bytes, pioWriteRate) }

// pioRead returns a read of the card's memory by the processor.
func pioRead(name string, bytes int) Part { return moved(name, bytes, pioReadRate) }

// dma returns a transfer between the card's memory and the host's, done by the card.
func dma(name string, bytes int) Part {
	if bytes == page {
		return moved(name, bytes, pageDMARate)
	}
	return lasting(name, dmaStart.V+float64(bytes)/busRate.V, dmaStart, busRate)
}

func link(name string, bytes int) Part { return moved(name, bytes, linkRate) }

func copyIn(name string, bytes int) Part { return moved(name, bytes, copyInRate) }

func copyOut(name string, bytes int) Part { return moved(name, bytes, copyOutRate) }

// payload returns a stage that moves the payload only.
func payload(on Resource, part func(string, int) Part, name string) Stage {
	return Stage{on, func(bytes int) Part { return part(name, bytes) }}
}

// with returns a stage that moves the payload and a header.
func with(on Resource, part func(string, int) Part, name string, header *Input) Stage {
	return Stage{on, func(bytes int) Part { return part(name, bytes+int(header.V)).reading(header) }}
}

// fixed returns a stage that moves a descriptor and no payload.
func fixed(on Resource, part func(string, int) Part, name string, descriptor *Input) Stage {
	return Stage{on, func(int) Part { return part(name, int(descriptor.V)).reading(descriptor) }}
}

// sent returns the stage in which the sending card's program handles a packet.
func sent() Stage {
	return Stage{SenderCard, func(int) Part { return program("the card's program, sending") }}
}

// arrived returns the stages from the link to the receiving card's program.
func arrived() []Stage {
	return []Stage{
		{Switches, func(int) Part { return lasting("switches", switches.V*switchDelay.V, switches, switchDelay) }},
		{ReceiverCard, func(int) Part { return program("the card's program, receiving") }},
	}
}

func program(name string) Part { return lasting(name, cardWork.V, cardWork) }

// through returns the stages of a packet: what the sender does, the link with the cards' programs and the switches, and
// what the receiver does. The sending card's program comes before its DMA, if there is one.
func through(link Stage, sender, receiver []Stage) []Stage {
	at := slices.IndexFunc(sender, func(s Stage) bool { return s.On == SenderDMA })
	if at < 0 {
		at = len(sender)
	}
	return slices.Concat(sender[:at], []Stage{sent()}, sender[at:], []Stage{link}, arrived(), receiver)
}

// amPipeline is Active Messages (§3.2). The four words of a request are written into the card and read from it by
// PIO. A longer message is copied and moved by DMA; its descriptor still goes by PIO.
func amPipeline(bytes int) Pipeline {
	if bytes <= shortest {
		return Pipeline{requestPacket, through(
			fixed(Wire, link, "link", amDescriptor),
			[]Stage{fixed(SenderCPU, pioWrite, "request written by PIO", amDescriptor)},
			[]Stage{fixed(ReceiverCPU, pioRead, "request read by PIO", amDescriptor)},
		)}
	}
	return Pipeline{pagePacket, through(
		with(Wire, link, "link", amDescriptor),
		[]Stage{
			payload(SenderCPU, copyIn, "copied to the copy block"),
			fixed(SenderCPU, pioWrite, "descriptor written by PIO", amDescriptor),
			payload(SenderDMA, dma, "DMA to the card"),
		},
		[]Stage{
			payload(ReceiverDMA, dma, "DMA to the copy block"),
			fixed(ReceiverCPU, pioRead, "descriptor read by PIO", amDescriptor),
			payload(ReceiverCPU, copyOut, "copied from the copy block"),
		},
	)}
}

// fmPipeline is Fast Messages: PIO at the sender, DMA and a copy at the receiver (§3.2).
func fmPipeline(int) Pipeline {
	return Pipeline{fmPacket, through(
		with(Wire, link, "link", descriptor),
		[]Stage{with(SenderCPU, pioWrite, "packet written by PIO", descriptor)},
		[]Stage{
			with(ReceiverDMA, dma, "DMA to the copy block", descriptor),
			with(ReceiverCPU, copyOut, "copied from the copy block", descriptor),
		},
	)}
}

// vmmcPipeline is VMMC (§3.2): DMA at both sides, except that the sender writes small messages by PIO. The
// receiver's processor does nothing.
func vmmcPipeline(bytes int) Pipeline {
	if bytes <= pioFasterTo {
		return Pipeline{pagePacket, through(
			with(Wire, link, "link", descriptor),
			[]Stage{with(SenderCPU, pioWrite, "data and request written by PIO", descriptor)},
			[]Stage{payload(ReceiverDMA, dma, "DMA to the exported memory")},
		)}
	}
	return dmaPipeline(pagePacket)
}

// vmmcFirst is VMMC where each page is sent for the first time: it is pinned, and the oldest is released (§3.2). What
// goes by PIO needs no pinned memory; the receiver's is pinned when it is exported.
func vmmcFirst(bytes int) Pipeline {
	p := vmmcPipeline(bytes)
	if bytes > pioFasterTo {
		took := pinning()
		pin := func(int) Part { return lasting("page pinned, the oldest released", took.V, took.reads...) }
		p.Stages = append([]Stage{{SenderCPU, pin}}, p.Stages...)
	}
	return p
}

// pmPipeline is PM (§3.2): DMA at both sides, between buffers that the program fills and reads. The filling and
// reading are the program's own work and not counted.
func pmPipeline(int) Pipeline { return dmaPipeline(pmPacket) }

// dmaPipeline is a packet's way where the card reads the message from memory: the processor only writes a
// descriptor.
func dmaPipeline(packet *Input) Pipeline {
	return Pipeline{packet, through(
		with(Wire, link, "link", descriptor),
		[]Stage{
			fixed(SenderCPU, pioWrite, "request written by PIO", descriptor),
			payload(SenderDMA, dma, "DMA to the card"),
		},
		[]Stage{payload(ReceiverDMA, dma, "DMA to memory")},
	)}
}

// libraries are the four that [Konishi97] compares, and VMMC once more where no page has been pinned.
var libraries = []struct {
	name string
	pipe func(bytes int) Pipeline
}{
	{"AM", amPipeline}, {"FM", fmPipeline}, {"VMMC", vmmcPipeline}, {"PM", pmPipeline},
	{"VMMC, no page pinned", vmmcFirst},
}
