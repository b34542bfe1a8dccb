// Package list has the lists of the engine's layers: of operations, messages, queues and peers. They are intrusive: a
// value carries its links, so that putting it on a list allocates nothing, and taking it off takes no search.
//
// Tested in list_test.go.
package list
