// Package handshake is how two processes authenticate each other before they exchange anything else
// (PROTOCOL §8). [Pair] has the proofs and keys that follow from the job's secret, [Answer] and Pair.Dial
// the exchange over a stream, [Records] the encryption of a stream. An [Acceptor] bounds the handshakes
// that strangers can keep in progress.
//
// Tested in this directory, and with hostile peers in the tests of each transport, of rendezvous and of
// package stream.
package handshake
