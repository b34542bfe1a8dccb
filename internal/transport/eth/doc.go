// Package eth moves packets in Ethernet frames of their own EtherType, beside
// TCP/IP on the same interface and with its ordinary driver (PM/Ethernet, paper
// 004). Received frames lie in a ring that is read without system calls; while
// somebody polls it, no arrival wakes anyone (interrupt reaping).
//
// Frames may be lost, so the link layer makes them reliable. The kernel drops
// frames of other jobs, and for other ranks, before they reach the ring.
package eth
