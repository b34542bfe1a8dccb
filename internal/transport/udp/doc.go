// Package udp moves packets between hosts as UDP datagrams. It is lossy: the
// engine's link layer makes it reliable, ordered and authentic.
//
// Several packets to one peer leave in one system call, cut apart by the
// kernel (UDP_SEGMENT), and arrive joined (UDP_GRO) where the kernel can do that;
// datagrams are received in batches. The goroutine that waits polls the socket. Only
// while no goroutine polls is the socket armed: the next arrival then rings the doorbell.
//
// Tested in udp_linux_test.go and cutting_test.go on the loopback interface, and in
// lab_linux_test.go and mtu_linux_test.go between network namespaces, which need root.
package udp
