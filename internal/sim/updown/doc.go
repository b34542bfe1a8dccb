// Package updown finds routes through networks of switches on which packets that
// wait for each other can never wait in a circle: up*/down* routes, as Autonet and
// Myrinet have them.
//
// Switches are put in an order that begins with a root, and of each link between two
// the direction to the earlier one is up. A route goes up as often as it likes, then
// down, and never up again. So a packet that goes down waits only for packets that go
// down, each of them later in the order, and one that goes up only for packets earlier
// in it or on their way down. Routes are the shortest of that kind; of several that are
// as short each pair of hosts takes the one whose links have the least to do so far.
//
// Nobody needs to believe that: Cycle searches the dependencies between the channels
// that the routes take, which must be without a circle (Dally and Seitz, 1987).
//
// Sources: M. D. Schroeder et al., Autonet: a high-speed, self-configuring local area
// network using point-to-point links, IEEE JSAC 9(8), 1991. Depth-first orders are
// J. C. Sancho's and A. Robles' (Euro-Par 2000); which neighbour comes next is ours.
package updown
