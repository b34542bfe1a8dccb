// Package transport is the seam between the protocol engine and the ways to
// move packets: within a process (transport/pipe), through shared memory
// (transport/shm), over a network (transport/udp). Each must pass the test in
// transport/transporttest.
//
// A transport knows nothing of the protocol: a packet is bytes. It never
// keeps a caller's bytes after Send, and it hands out received bytes as loans
// that end with Release.
package transport
