// Package netlab makes hosts on one machine for tests and measurements. A host is a network namespace. Virtual Ethernet
// joins two hosts directly, and three or more by a switch (a bridge) or a router. The network can have limited rates
// (Limit), faults (Trouble) and a recording of its frames (Record).
//
// Everything needs root, and Linux: elsewhere all functions return sys.ErrUnsupported. Tested in cmd/weft/lab_test.go
// and by every test that needs hosts.
package netlab
