// Package rma implements regions: memory that other processes of the job may
// read, write and update atomically (PROTOCOL §4), by PUSH, PULL, PUT and
// 8-byte atomics. It is the path for peers whose memory is not mapped here;
// where it is, the driver completes the operation itself.
//
// Requests carry the region's key and are checked at the target against its
// key and bounds before anything is touched. A target answers requests of one
// peer in order, so the answer to FLUSH says that everything before it is done.
//
// The package is pure: it reads no clock and starts nothing. Frames go into
// link queues, finished operations onto a list.
//
// Tested in layer_test.go (a layer that works on the memory of another) and limits_test.go,
// where frames of peers come one by one, both with the rig of rig_test.go; with
// links between the ranks by the scenarios of package engine, and under faults by
// lab/stress.
package rma
