// Package services measures the requests of programs that know nothing of weft, over a Unix socket, TCP, and the
// connections of package stream, between two processes: the time of a request, the requests a second, and the
// processor time that both processes use for one. It has the protocols of net/http and net/rpc; a program adds
// others with Add.
//
// `weftlab perf services` is its command. Tested in services_linux_test.go, and with gRPC and DRPC in
// examples/services.
package services
