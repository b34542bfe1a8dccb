// Package pmi is a client of the process management interface that MPICH's Hydra, Slurm and
// others offer to the processes that they start: PMI-1.1, which all of them speak. All of it that is used is the rank
// of this process, a store of short values, and a fence.
package pmi
