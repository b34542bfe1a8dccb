package hwmodel

import "fmt"

// The values that [Konishi97] gives for the parts: rates in bytes a microsecond (MB/s), and lengths in bytes.
const (
	pioReadMBs  = 8   // §4.1
	copyInMBs   = 25  // §4.1: into a copy block, which is not cached
	copyOutMBs  = 15  // §4.1: out of a copy block
	busMBs      = 133 // §4.1: the limit of PCI, which long DMAs reach
	pageDMAMBs  = 100 // §4.1: DMAs of a page
	linkMBs     = 160 // §2
	page        = 4096
	pioFasterTo = 256 // §4.1: up to here a PIO write is faster than a DMA
	shortest    = 16  // am_request_4: four words (§3.2)
)

// The values that it does not give, and that are assumed here.
const (
	pioWriteMBs  = copyInMBs // like a copy block, the card's memory is written uncached
	dmaStartUS   = page/float64(pageDMAMBs) - page/float64(busMBs)
	amDescriptor = 32   // bytes: eight words, in the source of LANai Active Messages
	descriptor   = 16   // bytes of a request or a header of the other libraries
	fmPacket     = 1024 // bytes of a packet of FM
	pmPacket     = 8192 // bytes of PM's longest message, in programs that call it
)

// moved returns a part that moves bytes at a rate.
func moved(name string, bytes int, rate float64, from string) Part {
	return us(name, float64(bytes)/rate, from)
}

// assumed marks a part whose value the paper does not give.
func assumed(p Part) Part {
	p.Of = OfAssumption
	return p
}

// pioWrite returns a write of the processor into the card's memory (programmed I/O).
func pioWrite(name string, bytes int) Part {
	return assumed(moved(name, bytes, pioWriteMBs,
		"assumed: as fast as uncached memory is written, 25 MB/s; the paper's figure 2 is lost"))
}

// pioRead returns a read of the card's memory by the processor.
func pioRead(name string, bytes int) Part {
	return moved(name, bytes, pioReadMBs, "§4.1: 8 MB/s")
}

// dma returns a transfer between the card's memory and the host's, done by the card.
func dma(name string, bytes int) Part {
	if bytes == page {
		return us(name, page/float64(pageDMAMBs), "§4.1: 100 MB/s for a page")
	}
	p := us(name, dmaStartUS+float64(bytes)/busMBs,
		"assumed: a start and 133 MB/s, the line through the two figures of §4.1")
	return assumed(p)
}

// with returns a stage that moves the payload and more bytes besides.
func with(on Resource, part func(string, int) Part, name string, more int) Stage {
	return Stage{on, func(bytes int) Part { return part(name, bytes+more) }}
}

// fixed returns a stage that moves a descriptor of fixed length and no payload.
func fixed(on Resource, part func(string, int) Part, name string, bytes int) Stage {
	return Stage{on, func(int) Part {
		p := part(name, bytes)
		p.From += fmt.Sprintf("; a descriptor of %d bytes is assumed", bytes)
		return assumed(p)
	}}
}

func link(name string, bytes int) Part { return moved(name, bytes, linkMBs, "§2: 160 MB/s") }

func copyIn(name string, bytes int) Part {
	return moved(name, bytes, copyInMBs, "§4.1: 25 MB/s, not cached")
}

func copyOut(name string, bytes int) Part {
	return moved(name, bytes, copyOutMBs, "§4.1: 15 MB/s, not cached")
}

// amPipeline is Active Messages (§3.2). The four words of a request are written into the card and read from it by
// PIO. A longer message is copied and moved by DMA; its descriptor still goes by PIO.
func amPipeline(bytes int) Pipeline {
	if bytes <= shortest {
		return Pipeline{shortest, []Stage{
			fixed(SenderCPU, pioWrite, "request written by PIO", amDescriptor),
			fixed(Wire, link, "link", amDescriptor),
			fixed(ReceiverCPU, pioRead, "request read by PIO", amDescriptor),
		}}
	}
	return Pipeline{page, []Stage{
		with(SenderCPU, copyIn, "copied to the copy block", 0),
		fixed(SenderCPU, pioWrite, "descriptor written by PIO", amDescriptor),
		with(SenderDMA, dma, "DMA to the card", 0),
		with(Wire, link, "link", 0),
		with(ReceiverDMA, dma, "DMA to the copy block", 0),
		fixed(ReceiverCPU, pioRead, "descriptor read by PIO", amDescriptor),
		with(ReceiverCPU, copyOut, "copied from the copy block", 0),
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
		return Pipeline{page, []Stage{
			with(SenderCPU, pioWrite, "data and request written by PIO", descriptor),
			with(Wire, link, "link", 0),
			with(ReceiverDMA, dma, "DMA to the exported memory", 0),
		}}
	}
	return dmaPipeline(page)
}

// pmPipeline is PM (§3.2): DMA at both sides, between buffers that the program fills and reads. The filling and
// reading are the program's own work and not counted.
func pmPipeline(int) Pipeline { return dmaPipeline(pmPacket) }

// dmaPipeline is a packet's way where the card reads the message from memory: the processor only writes a
// descriptor.
func dmaPipeline(packet int) Pipeline {
	return Pipeline{packet, []Stage{
		fixed(SenderCPU, pioWrite, "request written by PIO", descriptor),
		with(SenderDMA, dma, "DMA to the card", 0),
		with(Wire, link, "link", 0),
		with(ReceiverDMA, dma, "DMA to memory", 0),
	}}
}

// libraries are the four that [Konishi97] compares.
var libraries = []struct {
	name string
	pipe func(bytes int) Pipeline
}{{"AM", amPipeline}, {"FM", fmPipeline}, {"VMMC", vmmcPipeline}, {"PM", pmPipeline}}
