// Package doorbell holds the kinds of transport.Doorbell: Futex, a word that other
// processes can ring when it lies in shared memory; Poll, for nodes whose peers
// are all on other hosts, which sleeps on the sockets; and Chan, for nodes whose
// peers are goroutines of the same process. An Alarm rings one of them when a
// socket has something.
//
// All follow Dekker's protocol: whoever goes to sleep publishes that first
// and then looks for packets once more; whoever sends publishes the packet
// first and then looks whether somebody sleeps. Go's atomic operations are
// sequentially consistent, which orders the two.
package doorbell
