// Package job is a job on the virtual cluster. Its ranks are processes of package proc, and
// several of them may share a host. A loop plays events until every rank has ended, or until no
// rank can.
//
// It knows nothing of what the ranks execute. Package weft gives each rank a driver and the
// program, and decides what an error is.
//
// Tested in job_test.go, and with whole programs in simulate_test.go of package weft.
package job
