// Package hostbarrier is the part of a barrier that the members on one host carry out in
// memory that all of them map: each member counts its arrivals in a cache line of its own,
// and a phase is over when the lowest count has reached it. Nothing is ever reset, so phases
// may overlap. Waiting goroutines poll, and then sleep on a futex beside the counts: a Bell,
// which package mpi uses, too.
//
// If the members are on several hosts (two levels), the first member of each host is its
// leader. When all members on its host have arrived, the leader takes part in a barrier of
// the leaders over messages; when that is over, it releases the members on its host.
//
// The package does not find the members or map the memory: package weft does, and runs all
// algorithms of barriers. Tested in weft's barrier_test.go, noalloc_test.go and in
// internal/launch.
package hostbarrier
