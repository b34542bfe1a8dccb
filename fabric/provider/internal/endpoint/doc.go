// Package endpoint is the part of the provider that is not C: one endpoint of libfabric on the engine and the
// networks of weft, without a bootstrap. What other jobs learn of their ranks from a launcher, an endpoint learns from
// the names of the others, which the MPI exchanges, or from their greetings.
//
// The thread that calls runs the protocol. While it computes, a goroutine does so from time to time, so that peers
// have answers; see background.go.
//
//	file           one idea
//	name.go        what an endpoint is called, and how it is reached
//	identity.go    which job this process belongs to, and what rank it has
//	networks.go    the sockets
//	peers.go       the endpoints that this one has to do with
//	greeting.go    first contact
//	progress.go    packets between the engine and the networks
//	header.go      what goes ahead of a message
//	send.go        messages that leave
//	deliver.go     messages that come
//	long.go        messages that wait at their sender until they are fetched
//	access.go      memory of others, and theirs of this one
//	atomic.go      what atomic operations do
//	memory.go      memory that is registered
//	receive.go     what the program posts: receives, probes, cancellations
//	completion.go  what the program reads
//
// Tested in this directory, over UDP on the loopback; with Open MPI in package provider.
package endpoint
