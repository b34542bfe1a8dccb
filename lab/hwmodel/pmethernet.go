package hwmodel

// PMEthernet models PM/Ethernet, and TCP/IP on the same machines, from the cost tables of [Sumimoto00] (tables
// 2 to 4, half a round trip of 4 bytes).
func PMEthernet() Table {
	const (
		counter  = "table 3; measured with the processor's clock counter"
		firmware = "table 3; measured with the firmware of another network card"
		unsaid   = "table 4; the paper does not say how it was measured, and subtraction gives the same"
	)
	syscall := us("system call and socket", 1.6, OfParts, counter)
	tcp := us("TCP", 15.5, OfTotal, "table 3; 89.6/2 − 58.6/2")
	ip := us("IP", 6.2, OfTotal, "table 3; 58.6/2 − 1.6 − 3.2 − 36.6/2")
	pm := us("PM", 4.8, OfTotal, unsaid)
	swap := us("switch to protocol processing", 3.2, OfParts, counter)
	driver := us("device driver", 4.7, OfParts, counter)
	interrupt := us("hardware interrupt", 5.9, OfParts, firmware)
	response := us("processor answers an interrupt", 1.6, OfParts, "§2.2")
	registers := us("four accesses to the interrupt controller", 1.2, OfParts, "§2.2")
	wire := us("network card and medium", 7.7, OfTotal, "table 3; 36.6/2 − 4.7 − 5.9")

	link := Path{driver, interrupt, wire}
	overIP := Path{syscall, ip, swap, driver, interrupt, wire}
	overTCP := Path{syscall, tcp, ip, swap, driver, interrupt, wire}
	reaping := Path{syscall, pm, driver, wire}
	sleeping := Path{syscall, pm, driver, interrupt, wire}

	trip := func(p Path) Figure { return p.mean().times(2) }
	return Table{
		Name: "pmethernet",
		Title: "PM/Ethernet and TCP/IP, Pentium III 500 MHz, Gigabit Ethernet ([Sumimoto00], tables 2–4): " +
			"round trips of 4 bytes",
		Paths: []Named{
			{"TCP/IP, one way", overTCP, 89.6 / 2},
			{"PM/Ethernet with interrupt reaping, one way", reaping, 37.6 / 2},
			{"PM/Ethernet without reaping, one way", sleeping, 47.6 / 2},
		},
		Results: append([]Result{
			constructed("data link layer", 36.6, trip(link), "us", "the card's part was computed from it"),
			constructed("IP", 58.6, trip(overIP), "us", "the part of IP was computed from it"),
			constructed("TCP/IP", 89.6, trip(overTCP), "us", "the part of TCP was computed from it"),
			constructed("PM/Ethernet, reaping", 37.6, trip(reaping), "us",
				"presumably: the part of PM is what subtraction gives"),
			compared("PM/Ethernet, not reaping", 47.6, trip(sleeping), "us",
				"reaping saves an interrupt each way; the parts of PM and of the card come from other totals. The paper: "+
					"what is left is the handler, which runs also when it reaps"),
			constructed("interrupt: context saved, driver found", 0,
				Path{interrupt}.mean().minus(Path{response, registers}.mean()), "us", "the rest of 5.9, says the paper"),
			constructed("protocol processing that PM saves (table 4)", 77.9,
				exact(100).minus(Path{pm}.mean().over(Path{tcp, ip}.mean()).times(100)), "%",
				"of TCP's and IP's 21.7 us; the switch and the interrupt, which are saved too, do not count"),
		}, shares(overTCP, tcp, ip)...),
		Notes: []string{
			"The paper's text gives 48.4 us for one way of TCP/IP; that is the percentage of TCP and IP. The sum is 44.8.",
		},
	}
}

// shares returns what share of one way of TCP/IP each part takes (table 3), and those of TCP and IP together (§2.2).
func shares(way Path, tcp, ip Part) []Result {
	share := func(parts ...Part) Figure { return Path(parts).mean().over(way.mean()).times(100) }
	var all []Result
	for i, printed := range []float64{3.6, 34.6, 13.8, 7.1, 10.5, 13.2, 17.2} {
		all = append(all, constructed(way[i].Name+", share (table 3)", printed, share(way[i]), "%", "of 44.8 us"))
	}
	return append(all, constructed("TCP and IP, share", 48.4, share(tcp, ip), "%", "§2.2 has it as us in another place"))
}
