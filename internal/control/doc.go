// Package control asks the processes of this host that say something about themselves: the launchers of jobs (weft ps),
// and servers of streams. Each listens on a Unix socket with an abstract name, which leaves no file behind, and
// answers its own user and root, in JSON. A process in another network namespace is not found.
//
// Tested by package launch (control_test.go), whose jobs are asked so.
package control
