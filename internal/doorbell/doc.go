// Package doorbell has the implementations of transport.Doorbell, on which a node sleeps until a packet
// comes: Futex, a word that other processes can ring if it lies in shared memory; Poll, an epoll set of
// sockets, for nodes whose peers are all on other hosts; and Chan, for nodes whose peers are goroutines of
// the same process. An Alarm rings a doorbell when a socket becomes readable.
//
// All of them follow Dekker's protocol. A goroutine that is about to sleep publishes that, and then looks
// for packets once more. A sender publishes the packet, and then looks whether a goroutine sleeps. Go's
// atomic operations are sequentially consistent, so at least one of the two sees the other.
//
// Tested in this directory, and by the model tests of package driver.
package doorbell
