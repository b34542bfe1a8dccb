// Package list has the lists of operations of the engine's layers. They are intrusive: a
// value carries its link, so that putting it on a list allocates nothing.
//
// Tested in list_test.go.
package list
