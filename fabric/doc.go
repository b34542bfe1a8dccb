// Package fabric reaches other hosts by libfabric: InfiniBand, RoCE, EFA, Slingshot, Omni-Path, and whatever else has a
// provider there. A program imports it for its effect:
//
//	import _ "weft/fabric"
//
// From then on -transport auto prefers a provider that drives a device for remote memory access, and -transport fabric
// takes any. Without libfabric.so.1, or on another system than Linux, nothing changes. (docs/FABRIC.md)
//
// It is a module of its own, because a program that loads a library of C is linked dynamically. It needs no cgo.
//
// Regions of peers are written and read by the provider (window_linux.go), without the help of the target's processor.
//
// Each rank has one reliable endpoint (package ofi), by which packets go, and for each peer a TCP connection over which
// the two have met (package handshake) and by which each notices the other's end. The connection carries no packets.
//
// Tested in transport_linux_test.go (transporttest over each provider that needs no device, strangers), in
// said_linux_test.go (what ranks say of it, and what they do without it), in noalloc_linux_test.go, and in
// traps_linux_test.go, which shows what a program must not do with libfabric.
package fabric
