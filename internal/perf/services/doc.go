// Package services measures requests of protocols that know nothing of weft, over a Unix
// socket, TCP, and the connections of package stream, between two processes: how long a
// request takes, how many a second there are, and how much processor time both processes use
// for one. A program adds protocols of its own with Add; that of weft has net/http and net/rpc.
package services
