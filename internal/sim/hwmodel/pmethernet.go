package hwmodel

// PMEthernet is the cost table of PM/Ethernet and of TCP/IP on the same machines
// (paper 004, tables 2 to 4; half a round trip of 4 bytes).
func PMEthernet() Table {
	const (
		counter  = "table 3; measured with the processor's clock counter"
		firmware = "table 3; measured with the firmware of another network card"
		unsaid   = "table 4; how it was got is not said, and subtraction gives the same"
	)
	syscall := us("system call and socket", 1.6, counter)
	tcp := subtracted("TCP", 15.5, "table 3; 89.6/2 − 58.6/2")
	ip := subtracted("IP", 6.2, "table 3; 58.6/2 − 1.6 − 3.2 − 36.6/2")
	pm := subtracted("PM", 4.8, unsaid)
	swap := us("switch to protocol processing", 3.2, counter)
	driver := us("device driver", 4.7, counter)
	interrupt := us("hardware interrupt", 5.9, firmware)
	wire := subtracted("network card and medium", 7.7, "table 3; 36.6/2 − 4.7 − 5.9")

	link := Path{driver, interrupt, wire}
	overIP := Path{syscall, ip, swap, driver, interrupt, wire}
	overTCP := Path{syscall, tcp, ip, swap, driver, interrupt, wire}
	reaping := Path{syscall, pm, driver, wire}
	sleeping := Path{syscall, pm, driver, interrupt, wire}

	trip := func(p Path) Figure { return p.mean().times(2) }
	const measured = 47.6
	return Table{
		Name: "pmethernet", Title: "PM/Ethernet and TCP/IP, Pentium III 500 MHz, Gigabit Ethernet (paper 004, tables 2–4): round trips of 4 bytes",
		Paths: []Named{
			{"TCP/IP, one way", overTCP}, {"PM/Ethernet with interrupt reaping, one way", reaping},
			{"PM/Ethernet without reaping, one way", sleeping},
		},
		Results: []Result{
			{"data link layer", 36.6, trip(link), "us", ByConstruction, "the card's part was got from it", ""},
			{"IP", 58.6, trip(overIP), "us", ByConstruction, "the part of IP was got from it", ""},
			{"TCP/IP", 89.6, trip(overTCP), "us", ByConstruction, "the part of TCP was got from it", ""},
			{"PM/Ethernet, reaping", 37.6, trip(reaping), "us", ByConstruction, "presumably: the part of PM is what subtraction gives", ""},
			{"PM/Ethernet, not reaping", measured, trip(sleeping), "us", "", "reaping saves an interrupt each way; the parts of PM and of the card come out of other totals", ""},
			{"  of that not explained", 0, total(measured).minus(trip(sleeping)), "us", Residual, "the paper: the time of the handler, which runs also when it reaps", ""},
		},
		Notes: []string{"The paper's text gives 48.4 us for one way of TCP/IP; that is the percentage of TCP and IP. The sum is 44.8."},
	}
}
