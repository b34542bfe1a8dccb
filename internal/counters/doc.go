// Package counters has a rank's page: its counters in memory of a fixed layout, which other processes read
// without asking the rank. The rank writes by plain stores under the lock of its node. A reader copies the
// page and parses it, also while the rank is stopped, and after it has been killed. Package directory
// defines where pages lie.
//
// docs/COUNTERS.md has the layout, and the meaning of each counter.
//
// The package is pure: engines count through pointers into a page, and a page that no other process reads
// is ordinary memory.
//
// Tested in this directory, and with jobs in counters_test.go of package weft.
package counters
