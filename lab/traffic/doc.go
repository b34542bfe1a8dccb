// Package traffic runs flows of messages over the engine's links (package link) on a simulated network, without the
// layers above. So congestion among a thousand hosts can be watched in virtual time, with exact figures.
//
// A host sends as a node does: frames wait in a queue for each peer, the queues take turns, and the host's own link
// takes only as many packets as it can send soon. Computation takes no time, and a host receives at once, unless its
// process naps. A switch drops a packet that finds the queue of a port full (sim.Wire.Queue).
//
// A TCP connection may have a port beside the links (RunBeside).
//
// `weftlab sim congestion` is its command. Tested in traffic_test.go and beside_test.go.
package traffic
