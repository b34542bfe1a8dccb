// Package mpisuite measures package mpi beside the MPI libraries in C, by the lists of the Intel MPI Benchmarks and of
// the OSU Micro-Benchmarks: messages, collective operations, each blocking and non-blocking with the share of its time
// that is hidden behind computing, one-sided operations, and HPCC's RandomAccess. The benchmarks are written anew from
// what the documents of the suites say that each does. peers/suite.c.txt has the same ones in C.
//
// A benchmark is one operation of all ranks, which is repeated. After a tenth of the repetitions and a barrier, all
// ranks take the time of the rest; the result is that of the slowest rank, for one operation. All systems run in turn,
// round after round, and medians are compared.
package mpisuite
