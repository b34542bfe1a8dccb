// Package faulty makes a lossy transport as bad as the worst network. New loses, repeats,
// reorders and damages packets, as a seed decides. Gates cut and delay them between certain
// ranks. Tests use it, and weft.LocalWith.
//
// Tested in faulty_test.go; what the link makes of such a network in faulty_test.go of the root.
package faulty
