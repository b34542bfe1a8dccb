// Package doctor finds out what hosts give to weft. A rank on each host looks at it
// (Examine), and measures the way to each other rank (Measure); what comes out is a
// Report, from which Diagnose draws findings: what would stop a job, what makes it
// slow, what differs between hosts, and what to do about each.
package doctor
