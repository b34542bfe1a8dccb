// Package amt is what a rank needs to count what it sends (WEFT_TRACE), and to be told which senders get a receive ring
// of their own: the file of a table, an AMT (the address management table of [Kitamura06]), or the policy that adapts
// while a job runs. weftlab amt advise makes a table from what was counted.
//
// Tested in this directory.
package amt
