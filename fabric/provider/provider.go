// Package provider has the tests of a provider of libfabric: with it C's MPI programs run over weft between hosts,
// unchanged. It is made of a part in C, shim, and a part in Go, core on top of internal/endpoint; the script build
// makes the two libraries of them. docs/PROVIDER.md says how it is used.
//
// Tested by endpoint's own tests, and here: programs of Open MPI over it.
package provider
