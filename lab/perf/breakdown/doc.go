// Package breakdown measures where the time of a message between two hosts goes: tables 3 and 4 of PM/Ethernet
// [Sumimoto00], for the machine that it runs on. Each part is measured by itself, or is the difference of two paths
// that were measured.
//
// `weftlab perf breakdown` is its command. Tested in breakdown_test.go, without a lab.
package breakdown
