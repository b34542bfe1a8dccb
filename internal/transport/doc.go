// Package transport is the seam between the protocol engine and what moves packets: within a
// process (internal/transport/pipe), through shared memory (internal/transport/shm), in
// Ethernet frames (internal/transport/eth), as UDP datagrams (internal/transport/udp) and over
// TCP connections (internal/transport/tcp).
//
// A transport knows nothing of the protocol: a packet is bytes. It never keeps a caller's
// bytes after Send, and it lends received bytes until Release.
//
// Tested in internal/transport/transporttest, which every transport must pass, and the table
// of peers in peers_test.go.
package transport
