// Package faulty makes a lossy transport as bad as the worst network. New loses, repeats,
// reorders and damages packets, as a seed decides. Tests use it, and WEFT_FAULTS.
//
// Tested in faulty_test.go; what the link makes of such a network in faulty_test.go of the root.
package faulty
