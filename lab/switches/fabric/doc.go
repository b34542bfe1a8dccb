// Package fabric describes networks of switches in the manner of Myrinet: crossbars with a few ports, hosts with
// one port each, and links between them, in any shape.
//
// A network is read from a file of links, or generated: a tree, a fat tree, a ring, or a random one. The package
// holds only the description. Packages mapper and updown find networks and routes through them; package sim carries
// packets.
//
// Tested in fabric_test.go beside the code, with a fuzz target for the file format.
package fabric
