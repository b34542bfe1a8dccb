// Package hostlist parses the lists of hosts that users and batch systems write: "a,b:4,node[01-16,20]" on a command
// line, a file with one host on each line, and Slurm's lists of nodes and of counts. Lists come from outside, so the
// number of hosts, the lengths of names and the characters in them are limited. Tested in hostlist_test.go, also by
// fuzzing.
package hostlist
