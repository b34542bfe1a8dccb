// Package eth moves packets in Ethernet frames of their own EtherType, beside
// TCP/IP on the same interface and with its ordinary driver, as PM/Ethernet does
// [Sumimoto00]. Received frames lie in a ring that is read without system calls. While
// a goroutine polls it, no arrival wakes anyone (interrupt reaping). To peers on the same
// segment runs of long packets go as UDP datagrams instead, where that works
// (paths_linux.go).
//
// Frames may be lost, so the link layer makes them reliable. The kernel drops
// frames of other jobs, and for other ranks, before they reach the ring.
//
// Tested in card_test.go (cards), and in eth_linux_test.go and paths_linux_test.go between
// network namespaces, which need root.
package eth
