// Package udp moves packets between hosts as UDP datagrams. It is lossy: the
// engine's link layer makes it reliable, ordered and authentic.
//
// Several packets to one peer leave in one system call, cut apart by the
// kernel (UDP_SEGMENT), and arrive joined (UDP_GRO) where it can; datagrams
// are received in batches. The socket is polled by whoever waits. Only while
// nobody polls is it armed, so that one arrival rings the doorbell.
package udp
