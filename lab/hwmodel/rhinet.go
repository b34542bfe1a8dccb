package hwmodel

// RHiNET computes what [Kitamura06] says of VPUSH on RHiNET-2, the predecessor of IPUSH, and what the calls of
// [Miyawaki01] would take on Martini. The latter paper has no times. The parts are those of other papers, and the
// processor on the chip is assumed to be as fast as that of RHiNET-2.
func RHiNET() Table {
	const (
		vpush  = "[Kitamura06] §2.1, which has it from a paper on RHiNET-2"
		chip   = "a later paper on the chip (IEEE TPDS 18(9), 2007)"
		packet = 2048
	)
	share := (&Input{"the processor's share of a packet of VPUSH", 0.60, "", OfElsewhere, vpush}).figure()
	work := (&Input{"the processor's work for a packet of VPUSH", 6.6, "us", OfElsewhere, vpush}).figure()
	rate := (&Input{"VPUSH, packets of 2 KiB", 180.3, "MB/s", OfTotal, vpush}).figure()
	core := (&Input{"the core processor's work for a message", 6.6, "us", OfAssumption,
		"assumed: what VPUSH takes on the processor of RHiNET-2"}).figure()
	flight := (&Input{"a message of Martini", 1.74, "us", OfElsewhere, chip}).figure()
	link := (&Input{"Martini, both ways", 470, "MB/s", OfElsewhere, chip}).figure()
	read := (&Input{"a read over the bus", 0.5, "us", OfElsewhere, "[Konishi97] §4.1: 8 MB/s, words of 4 bytes"}).figure()
	entries := (&Input{"entries of SENDTBL", 64, "", OfAssumption, "assumed: the paper gives no size"}).figure()

	step := flight.plus(core) // a message that the core processor handles where it arrives
	bytes := exact(packet)
	return Table{
		Name: "rhinet", Title: "VPUSH on RHiNET-2 ([Kitamura06] §2.1), and the calls of [Miyawaki01] on Martini",
		Results: []Result{
			compared("VPUSH, packets of 2 KiB", 180.3, bytes.over(work.over(share)), "MB/s",
				"6.6 us are said to be about 60 % of a packet; of 180.3 MB/s they are 58.1 %"),
			{
				What: "VPUSH, if the processor took no time", Paper: 450, Model: bytes.over(bytes.over(rate).minus(work)),
				Unit: "MB/s", Says: Hypothetical, Note: "the paper divides 180.3 by 40 %, which is 1 less its rounded 60 %",
			},
			compared("RDMA, of which VPUSH reaches 38 %", 0, rate.times(1/0.38), "MB/s", ""),
			compared("PUSH, PUT", 0, flight.times(1), "us", "without the core processor"),
			compared("PULL", 0, flight.times(2), "us", "request and data"),
			compared("lock, nobody has it", 0, step.times(2), "us", "lock_req, lock_reply"),
			compared("lock, from another rank", 0, step.times(3), "us", "lock_req, lock_forw, lock_reply"),
			compared("lock, handed over", 0, step.times(1), "us", "lock_reply"),
			compared("barrier of 64", 0, step.times(12), "us", "a binary tree: 6 levels up, 6 down"),
			compared("SEND, until its ACK", 0, step.times(2), "us", ""),
			compared("core processor and link are in balance", 0, core.times(1).with(core.V*link.V, link), "B",
				"§6: packets have 2 KiB at most, so the core processor is the slower one for all of them"),
			compared("get_send_buf, reads of the bus", 0, read.times(1), "us", "§5.4: it asks the card for the tail each time"),
			compared("the same with a stash", 0, read.over(entries), "us", "it asks when its copy says that no entry is free"),
		},
	}
}
