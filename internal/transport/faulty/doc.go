// Package faulty makes a lossy transport as bad as the worst network: it loses,
// repeats, reorders and damages packets, as a seed decides (New), or cuts and delays them
// between certain ranks (Gates). Tests use it, and weft.LocalWith.
//
// Tested in faulty_test.go; what the link makes of such a network in faulty_test.go of the root.
package faulty
