// Package ofi calls libfabric, the library of the OpenFabrics Interfaces, without cgo: purego loads libfabric.so.1, and
// most calls go to the functions in its tables of operations, as libfabric's own inline functions do.
//
// An [Endpoint] is one reliable endpoint (FI_EP_RDM) with its domain, address vector and completion queue. Everything
// that libfabric keeps beyond a call lies in memory that this package has mapped ([Arena]), never on a stack or in the
// heap of Go: buffers, contexts and completions.
//
// Calls of an Endpoint must not overlap (FI_THREAD_DOMAIN).
//
// Tested by package fabric.
package ofi
