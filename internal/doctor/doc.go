// Package doctor checks whether hosts are fit for weft. A rank on each host examines the host (Examine) and measures
// its path to every other rank (Measure). Gather brings the results together in a Report, and Diagnose adds the
// findings: what would stop a job, what makes it slow, what differs between hosts, and what to do about each.
//
// Tested in measure_test.go, report_test.go (the printed pages are in testdata) and, with hosts, in
// cmd/weft/doctor_linux_test.go.
package doctor
