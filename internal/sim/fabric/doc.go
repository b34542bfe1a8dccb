// Package fabric describes networks of switches in the manner of Myrinet: crossbars
// of a few ports, hosts with one port each, and links between them, in any shape.
//
// A network is read from a file of links, or generated: a tree, a fat tree, a ring,
// or at random. The package holds the description alone; packages mapper and updown
// find networks and routes through them, and package sim carries packets.
package fabric
