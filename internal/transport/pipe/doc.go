// Package pipe connects ranks that are goroutines of one process, for tests,
// examples and weft.Local. Each ordered pair that has spoken has a bounded
// queue; packets are copied into its slots.
//
// Tested in pipe_test.go, by transporttest.
package pipe
