package hwmodel

import "fmt"

// What paper 003 says of the parts, in bytes a microsecond, which are MB/s, and bytes.
const (
	pioReadMBs  = 8   // §4.1
	copyInMBs   = 25  // §4.1: into a copy block, which is not cached
	copyOutMBs  = 15  // §4.1: out of one
	busMBs      = 133 // §4.1: most of PCI, which long DMAs reach
	pageDMAMBs  = 100 // §4.1: DMAs of a page
	linkMBs     = 160 // §2
	page        = 4096
	pioFasterTo = 256 // §4.1: up to here a PIO write is faster than a DMA
	shortest    = 16  // am_request_4: four words (§3.2)
)

// What it does not say.
const (
	pioWriteMBs  = copyInMBs // like a copy block, the card's memory is written uncached
	dmaStartUS   = page/float64(pageDMAMBs) - page/float64(busMBs)
	amDescriptor = 32   // bytes: eight words, in the source of LANai Active Messages
	descriptor   = 16   // bytes of a request or a header of the other libraries
	fmPacket     = 1024 // bytes of a packet of FM
	pmPacket     = 8192 // bytes of PM's longest message, in programs that call it
)

// moved returns a part that takes bytes over a rate.
func moved(name string, bytes int, rate float64, from string) Part {
	return us(name, float64(bytes)/rate, from)
}

// assumed marks a part as read from what the paper does not say.
func assumed(p Part) Part {
	p.Of = OfAssumption
	return p
}

// pioWrite is the processor that writes into the card's memory.
func pioWrite(name string, bytes int) Part {
	return assumed(moved(name, bytes, pioWriteMBs,
		"assumed: as fast as uncached memory is written, 25 MB/s; the paper's figure 2 is lost"))
}

// pioRead is the processor that reads the card's memory.
func pioRead(name string, bytes int) Part {
	return moved(name, bytes, pioReadMBs, "§4.1: 8 MB/s")
}

// dma is the card that moves bytes between its memory and the host's.
func dma(name string, bytes int) Part {
	if bytes == page {
		return us(name, page/float64(pageDMAMBs), "§4.1: 100 MB/s for a page")
	}
	p := us(name, dmaStartUS+float64(bytes)/busMBs,
		"assumed: a start and 133 MB/s, as a line through §4.1's two figures has it")
	return assumed(p)
}

// with returns a stage that moves the payload and some bytes more.
func with(on Resource, part func(string, int) Part, name string, more int) Stage {
	return Stage{on, func(bytes int) Part { return part(name, bytes+more) }}
}

// fixed returns a stage that moves a descriptor and no payload.
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

// amWay is Active Messages: a request's four words are written into the card and
// read out of it; what is longer is copied and moved by DMA, and the descriptor
// still goes by PIO (§3.2).
func amWay(bytes int) Way {
	if bytes <= shortest {
		return Way{shortest, []Stage{
			fixed(SenderCPU, pioWrite, "request written by PIO", amDescriptor), fixed(Wire, link, "link", amDescriptor),
			fixed(ReceiverCPU, pioRead, "request read by PIO", amDescriptor),
		}}
	}
	return Way{page, []Stage{
		with(SenderCPU, copyIn, "copied to the copy block", 0), fixed(SenderCPU, pioWrite, "descriptor written by PIO",
			amDescriptor),
		with(SenderDMA, dma, "DMA to the card", 0), with(Wire, link, "link", 0), with(ReceiverDMA, dma,
			"DMA to the copy block", 0),
		fixed(ReceiverCPU, pioRead, "descriptor read by PIO", amDescriptor), with(ReceiverCPU, copyOut,
			"copied from the copy block", 0),
	}}
}

// fmWay is Fast Messages: PIO at the sender, DMA and a copy at the receiver (§3.2).
func fmWay(int) Way {
	return Way{fmPacket, []Stage{
		with(SenderCPU, pioWrite, "packet written by PIO", descriptor), with(Wire, link, "link", descriptor),
		with(ReceiverDMA, dma, "DMA to the copy block", descriptor), with(ReceiverCPU, copyOut,
			"copied from the copy block", descriptor),
	}}
}

// vmmcWay is VMMC: DMA at both sides, but for small messages PIO at the sender; the
// receiver's processor does nothing (§3.2).
func vmmcWay(bytes int) Way {
	if bytes <= pioFasterTo {
		return Way{page, []Stage{
			with(SenderCPU, pioWrite, "data and request written by PIO", descriptor), with(Wire, link, "link", 0),
			with(ReceiverDMA, dma, "DMA to the exported memory", 0),
		}}
	}
	return dmaWay(page)
}

// pmWay is PM: DMA at both sides out of buffers that the program fills and reads
// (§3.2). What it writes and reads there is its own work.
func pmWay(int) Way { return dmaWay(pmPacket) }

func dmaWay(packet int) Way {
	return Way{packet, []Stage{
		fixed(SenderCPU, pioWrite, "request written by PIO", descriptor), with(SenderDMA, dma, "DMA to the card", 0),
		with(Wire, link, "link", 0), with(ReceiverDMA, dma, "DMA to memory", 0),
	}}
}

// libraries are the four that paper 003 compares.
var libraries = []struct {
	name string
	way  func(bytes int) Way
}{{"AM", amWay}, {"FM", fmWay}, {"VMMC", vmmcWay}, {"PM", pmWay}}
