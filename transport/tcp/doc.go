// Package tcp moves packets over TCP connections of the kernel, one for each
// pair of ranks that talk. It is what raw Ethernet and UDP are compared with,
// and what is left where a network carries nothing else.
//
// Connections begin with a handshake in which both sides prove that they know
// the job's secret. After that the network is trusted: packets are not
// authenticated, and the handshake is not bound to them. (docs/SECURITY.md)
package tcp
