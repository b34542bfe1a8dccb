package hwmodel

// The values that [Konishi97] gives for the parts: rates in bytes a microsecond, which are MB/s.
var (
	pioReadRate = &Input{"PIO read", 8, "MB/s", OfParts, "§4.1: 8 MB/s"}
	copyInRate  = &Input{"copy into a copy block", 25, "MB/s", OfParts, "§4.1: 25 MB/s, not cached"}
	copyOutRate = &Input{"copy out of a copy block", 15, "MB/s", OfParts, "§4.1: 15 MB/s, not cached"}
	busRate     = &Input{"PCI, which long DMAs fill", 133, "MB/s", OfParts, "§4.1: 133 MB/s"}
	pageDMARate = &Input{"DMA of a page", 100, "MB/s", OfParts, "§4.1: 100 MB/s for a page"}
	linkRate    = &Input{"link", 160, "MB/s", OfParts, "§2: 160 MB/s"}
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

// amPipeline is Active Messages (§3.2). The four words of a request are written into the card and read from it by
// PIO. A longer message is copied and moved by DMA; its descriptor still goes by PIO.
func amPipeline(bytes int) Pipeline {
	if bytes <= shortest {
		return Pipeline{requestPacket, []Stage{
			fixed(SenderCPU, pioWrite, "request written by PIO", amDescriptor),
			fixed(Wire, link, "link", amDescriptor),
			fixed(ReceiverCPU, pioRead, "request read by PIO", amDescriptor),
		}}
	}
	return Pipeline{pagePacket, []Stage{
		payload(SenderCPU, copyIn, "copied to the copy block"),
		fixed(SenderCPU, pioWrite, "descriptor written by PIO", amDescriptor),
		payload(SenderDMA, dma, "DMA to the card"),
		with(Wire, link, "link", amDescriptor),
		payload(ReceiverDMA, dma, "DMA to the copy block"),
		fixed(ReceiverCPU, pioRead, "descriptor read by PIO", amDescriptor),
		payload(ReceiverCPU, copyOut, "copied from the copy block"),
	}}
}

// fmPipeline is Fast Messages: PIO at the sender, DMA and a copy at the receiver (§3.2).
func fmPipeline(int) Pipeline {
	return Pipeline{fmPacket, []Stage{
		with(SenderCPU, pioWrite, "packet written by PIO", descriptor),
		with(Wire, link, "link", descriptor),
		with(ReceiverDMA, dma, "DMA to the copy block", descriptor),
		with(ReceiverCPU, copyOut, "copied from the copy block", descriptor),
	}}
}

// vmmcPipeline is VMMC (§3.2): DMA at both sides, except that the sender writes small messages by PIO. The
// receiver's processor does nothing.
func vmmcPipeline(bytes int) Pipeline {
	if bytes <= pioFasterTo {
		return Pipeline{pagePacket, []Stage{
			with(SenderCPU, pioWrite, "data and request written by PIO", descriptor),
			with(Wire, link, "link", descriptor),
			payload(ReceiverDMA, dma, "DMA to the exported memory"),
		}}
	}
	return dmaPipeline(pagePacket)
}

// pmPipeline is PM (§3.2): DMA at both sides, between buffers that the program fills and reads. The filling and
// reading are the program's own work and not counted.
func pmPipeline(int) Pipeline { return dmaPipeline(pmPacket) }

// dmaPipeline is a packet's way where the card reads the message from memory: the processor only writes a
// descriptor.
func dmaPipeline(packet *Input) Pipeline {
	return Pipeline{packet, []Stage{
		fixed(SenderCPU, pioWrite, "request written by PIO", descriptor),
		payload(SenderDMA, dma, "DMA to the card"),
		with(Wire, link, "link", descriptor),
		payload(ReceiverDMA, dma, "DMA to memory"),
	}}
}

// libraries are the four that [Konishi97] compares.
var libraries = []struct {
	name string
	pipe func(bytes int) Pipeline
}{{"AM", amPipeline}, {"FM", fmPipeline}, {"VMMC", vmmcPipeline}, {"PM", pmPipeline}}
