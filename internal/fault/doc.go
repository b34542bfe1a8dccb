// Package fault makes faults happen to the ranks of a job: crashes, pauses, partitions and
// delays, at a time or when a rank begins its n-th operation.
//
// A Plan decides what happens and when. A Stage is the job to which it happens: package sim/job has
// it. Check says which faults cannot be, and a List reads them from a command line.
//
// Tested in plan_test.go, and with whole programs in fault_test.go of package weft.
package fault
