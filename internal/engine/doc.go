// Package engine is the protocol of one rank of a job, as a state machine: which peers it
// has, which packets are on their way to them, and what their packets mean.
//
// It is pure. Inputs are packets (Recv), operations (the layers Msg, RMA and Coord) and the
// time (Advance). Outputs are packets (Output) and finished operations. An engine reads no
// clock, starts no goroutine, takes no lock and does no I/O; random numbers are handed in.
// So the same code runs on real transports (internal/driver), in a simulator, under the
// fuzzer and in text scenarios.
//
// An engine has one owner at a time; it is not safe for concurrent use.
//
// Tested in scenario_test.go (the scenarios of testdata), engine_test.go (fuzzing),
// lies_test.go and strangers_test.go (hostile peers), timers_test.go, silent_test.go and
// taken_test.go; under faults by lab/stress.
package engine
