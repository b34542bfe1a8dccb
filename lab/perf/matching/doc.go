// Package matching compares the searches of package match, which keeps a queue for each sender, with those in one queue
// for all senders, as most MPI libraries of the papers' time had it. It plays patterns with many unexpected messages or
// posted receives, and what programs have done by their traces, to both. It counts the entries that searches
// compare, and takes the time.
//
// `weftlab perf match` is its command. Tested in matching_test.go.
package matching
