// Package doorbell holds the two kinds of transport.Doorbell: Futex, a word
// that other processes can ring when it lies in shared memory, and Chan, for
// nodes whose peers are goroutines of the same process.
//
// Both follow Dekker's protocol: whoever goes to sleep publishes that first
// and then looks for packets once more; whoever sends publishes the packet
// first and then looks whether somebody sleeps. Go's atomic operations are
// sequentially consistent, which orders the two.
package doorbell
