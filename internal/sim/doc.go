// Package sim is a discrete-event simulator of a cluster. Only events move its clock. Machines stop, pause and crash.
// The network is described by data: topology, bandwidth, delay and faults.
//
// One seed decides everything. There is one thread of control: the World takes the earliest event, lets it act, and
// goes on. Events of the same instant act in the order in which they were scheduled. So the same seed gives the
// same bytes, and the hash of the event log proves it.
//
// The package knows nothing of the protocol. Package proc runs programs on it; packages barrierplan, traffic and
// hwmodel compute figures with it.
//
// Tested in sim_test.go beside the code, and by everything that runs on it.
package sim
