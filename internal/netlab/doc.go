// Package netlab makes hosts on one machine: network namespaces, joined by a pair
// of virtual Ethernet interfaces, or by more of them and a bridge.
package netlab
