// Package sim is a virtual cluster: a clock that only events move, machines
// that stop, pause and crash, and a network that is given as data, with its
// topology, its bandwidth, and its faults.
//
// One seed decides everything. There is one thread of control: the world takes
// the earliest event, lets it act, and goes on; what acts at one instant acts in
// the order in which it was scheduled. So the same seed gives the same bytes,
// and the hash of the event log says so.
//
// The package knows nothing of the protocol. Package swarm runs engines on it and
// checks them; package guest runs programs on it.
package sim
