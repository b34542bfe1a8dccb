// Package routing judges up*/down* routes through a network of switches (lab/switches/updown): their lengths and loads,
// whether packets on them can deadlock, and how they change when links fail. It also follows a source route.
//
// Tested in routing_test.go.
package routing
