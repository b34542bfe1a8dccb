// Package breakdown measures where the time of a message between two hosts goes:
// tables 3 and 4 of PM/Ethernet (paper 004), for the machine that it runs on. Each
// part is measured by itself, or is the difference of two paths that were.
package breakdown
