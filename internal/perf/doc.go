// Package perf measures weft and its peers the same way, in one run: every
// system runs in turn, round after round, so that what else the machine does
// falls on all of them, and medians over all rounds are compared.
//
// A System runs one test with two (or more) processes and returns samples.
// weft itself and the sockets of the Go library run as ranks of a weft job
// whose program is this executable; MPI runs a small C program of ours; UCX
// brings its own.
package perf
