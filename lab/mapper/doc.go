// Package mapper finds a network of switches from one of its hosts, as Myrinet's mappers do, and checks whether its
// links still work.
//
// A switch has no name and answers nothing. A packet carries its route: each switch takes one turn off the route,
// adds it to the number of the port at which the packet came in, and sends the packet out at the port with that
// number. So the mapper explores with probe packets, called scouts, of three kinds:
//
//   - An asking scout ends at a host, which answers with its name over the return route that the scout carries.
//   - A returning scout turns by 0 at its last switch, leaves at the port where it came in, and takes the same
//     path back. If it comes back, there is a switch.
//   - A comparing scout goes to the switch behind a link, turns there as if that switch were a certain known one,
//     and takes the known switch's path back. If it comes back, the two switches are one: since turns can be
//     undone, its last link was the mapper's own only if the link before was the known one, and so on back to the
//     switch.
//
// A lost scout only shows by a timeout. The map is the network that the answers describe: switches in the order in
// which they were found, with ports counted from the lowest that has a link.
//
// The scouts cross a simulated network in virtual time (Wiring), or one of network namespaces (Cables); the mapper
// sees only what comes back to its host. Nothing else is on that network: scouts wait neither for each other nor for
// packets of programs, and are lost only where the network has no path for them. There is one mapper, and hosts are not
// told their routes.
//
// Tested in mapper_test.go, job_test.go and cables_linux_test.go, and by the scenarios in testdata.
package mapper
