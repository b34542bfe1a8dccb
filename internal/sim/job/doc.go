// Package job is a job on the virtual cluster. Its ranks are processes of package proc, and
// several of them may share a host. A loop plays events until every rank has ended, or until no
// rank can.
//
// A Job knows nothing of what its ranks execute. A Cluster runs a job whose ranks are members, as package join makes
// them: each has a driver, and a program that package weft hands in. An Order is a Cluster that weft sim asks for.
//
// Tested in job_test.go, and with whole programs in simulate_test.go of package weft.
package job
