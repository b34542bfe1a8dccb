// Package engine is one node of a job as one state machine: who its peers are,
// what is on its way to them, and what their packets mean.
//
// It is pure. Inputs are packets (Recv), operations (Msg, RMA) and the time
// (Advance); outputs are packets (Output) and finished operations. It reads no
// clock, starts no goroutine, takes no lock and does no I/O; randomness is
// handed in. So the same code runs on real transports (internal/driver), in a
// simulator, under the fuzzer and in text scenarios.
//
// An engine has one owner at a time; it is not safe for concurrent use.
package engine
