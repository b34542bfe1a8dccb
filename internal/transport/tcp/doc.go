// Package tcp moves packets over TCP connections of the kernel, two for each
// pair of ranks that talk: one for bulk, and one for what need not wait for it. It is
// what raw Ethernet and UDP are compared with, and what is left where a network carries
// nothing else.
//
// A connection ends when a process ends it, or ends. No timeout is set for it: the
// kernel's clock runs on while a process is stopped, and would break the connection
// to a peer that was stopped together with us. Nodes exchange signs of life instead
// (Caps.Beats), and count what they have lived through.
//
// Connections begin with a handshake in which both sides prove that they know
// the job's secret. After that packets are encrypted where Config.Encrypt says so,
// under keys that only these two sides of this handshake know. Elsewhere the network
// is trusted: packets are not authenticated, and the handshake is not bound to them.
// (docs/SECURITY.md)
package tcp
