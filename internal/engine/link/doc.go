// Package link carries frames to one peer: the queue in front of every
// transport (Queue), and for transports that lose packets the go-back-N
// protocol with LOSE, STOP and GO of PM/Ethernet, repaired and authenticated
// (Conn, PROTOCOL §2).
//
// The package is pure: time is an argument, and packets are returned, not sent.
package link
