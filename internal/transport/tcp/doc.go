// Package tcp moves packets over TCP connections of the kernel, two for each
// pair of ranks that talk: one for bulk, and one for packets that need not wait behind bulk.
// It is for networks that carry nothing else, and to compare raw Ethernet and UDP with.
//
// A connection ends when a process ends it, or ends. No timeout is set for it: the
// kernel's clock runs on while a process is stopped, and would break the connection
// to a peer that was stopped together with us. Nodes exchange signs of life instead
// (Caps.Beats), and count only the time during which they ran themselves.
//
// Connections begin with a handshake in which both sides prove that they know
// the job's secret. After that packets are encrypted where Config.Encrypt says so,
// under keys that only these two sides of this handshake know. Elsewhere the network
// is trusted: packets are not authenticated, and the handshake is not bound to them.
// (docs/SECURITY.md)
//
// Tested in tcp_linux_test.go (transporttest, strangers), ends_linux_test.go (connections that
// end, descriptors that run out) and records_linux_test.go (encrypted streams).
package tcp
