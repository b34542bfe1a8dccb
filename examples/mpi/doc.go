// Package mpi has MPI programs in C, and the same programs in Go beside them. docs/PORTS.md shows both.
package mpi
