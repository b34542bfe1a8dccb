// Package transport is the seam between the protocol engine and the ways to
// move packets: within a process (internal/transport/pipe), through shared memory
// (internal/transport/shm), over a network (internal/transport/udp). Each must pass the test in
// internal/transport/transporttest.
//
// A transport knows nothing of the protocol: a packet is bytes. It never
// keeps a caller's bytes after Send, and it hands out received bytes as loans
// that end with Release.
package transport
