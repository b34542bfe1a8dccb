// Package hostlist reads the lists of hosts that launchers and batch systems
// write: "a,b:4,node[01-16,20]" on a command line, a file with a host a line,
// and Slurm's lists of nodes with their lists of counts.
package hostlist
