// Package traffic runs flows of messages over the engine's links (package link) on a
// simulated network, without the layers above: so congestion can be watched between a
// thousand hosts, in virtual time, and to the digit.
//
// A host sends as a node does: frames wait in a queue for each peer, the queues take turns,
// and the host's own link takes no more than it can send soon. It computes in no time, and
// receives at once. Switches drop what finds the queue of a port full (sim.Wire.Queue).
package traffic
