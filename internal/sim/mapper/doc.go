// Package mapper finds a network of switches from one of its hosts, as Myrinet's
// mappers do, and watches whether its links still work.
//
// A switch has no name and answers nothing. A packet brings its route along: each
// switch takes a turn off it, adds that to the number of the port at which the packet
// has come in, and sends it out at the port with that number. So the mapper sends
// scouts:
//
//   - one that asks: it ends at a host, which answers with its name over the route
//     that the scout has brought;
//   - one that returns: it turns by 0 at its last switch, goes out where it came in,
//     and takes the same way back. If it comes back there is a switch;
//   - one that compares: it goes to the switch behind a link, turns there as if that
//     were a certain port of a switch that is known, and takes that one's way back.
//     If it comes back the two are one: turns can be undone, so the last link of its
//     way was the mapper's own only if the link before was the one that is known, and
//     so on back to the switch.
//
// What is lost says nothing but that it took too long. The map is the network that
// answers describe: switches in the order in which they were found, with ports
// counted from the lowest that has a link.
//
// The scouts fly through a real network in virtual time; the mapper sees of it only
// what comes back to its host. Nothing else is on that network: scouts do not wait for
// each other or for packets of programs, and none is lost but by what the network is.
// There is one mapper, and hosts are not told their routes.
package mapper
