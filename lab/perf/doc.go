// Package perf measures weft and other systems in the same way and in one run: all systems run in turn, round after
// round, so that other work on the machine affects all of them, and medians over all rounds are compared.
//
// A System runs a test with two or more processes and returns samples. weft itself and the sockets of Go's standard
// library run as the ranks of a weft job whose program is this executable (Rank). MPI libraries run a small C program
// of ours. UCX, sockperf and iperf3 bring programs of their own. A Target is a figure that weft is to reach, relative
// to other systems.
//
// `weftlab perf` is its command. Tested in perf_test.go and logp_test.go; no test depends on a time.
package perf
