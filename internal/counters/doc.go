// Package counters is what a rank counts, in memory of a fixed layout that others read
// without asking the rank: its page. The rank writes with plain stores to memory of its own,
// under the lock of its node; a reader copies the page and parses it, also while the rank is
// stopped, and after it has been killed. Package directory says where pages lie.
//
// docs/COUNTERS.md has the layout, and what each counter means.
//
// The package is pure: engines count through pointers into a page, and a page that nobody
// reads is ordinary memory.
package counters
