// Package updown finds routes through networks of switches on which packets that
// wait for each other can never wait in a circle: up*/down* routes, as Autonet and
// Myrinet have them.
//
// Every link between switches gets a direction that is up: towards a root, by the
// levels of a breadth-first tree, and between switches of one level towards the
// lower number. A route goes up as often as it likes, then down, and never up again.
// So a packet that goes down waits only for packets that go down, each of them
// further from the root, and one that goes up only for packets closer to it or on
// their way down. Routes are the shortest of that kind; of several that are as short
// each pair of hosts takes the one whose links have the least to do so far.
//
// Nobody needs to believe that: Cycle searches the dependencies between the channels
// that the routes take, which must be without a circle (Dally and Seitz, 1987).
//
// Source: M. D. Schroeder et al., Autonet: a high-speed, self-configuring local area
// network using point-to-point links, IEEE JSAC 9(8), 1991.
package updown
