// Package updown finds deadlock-free routes through networks of switches: up*/down* routes [Schroeder91], as
// Autonet and Myrinet use them. Packets that wait for each other's channels can never form a cycle.
//
// The switches are put in an order that begins with a root. Of each link between two switches, the direction to the
// earlier switch is called up. A route goes up any number of times, then down, and never up again. So a packet that
// goes down waits only for packets that go down, each of them later in the order. A packet that goes up waits only
// for packets earlier in the order or on their way down. Routes are the shortest of that kind. If several are equally
// short, a pair of hosts takes the route whose links carry the fewest routes yet.
//
// Cycle verifies this: it searches the dependencies between the channels that the routes take, which must have no
// cycle (Dally and Seitz, 1987).
//
// Depth-first orders are those of [Sancho00]; the choice of the next neighbour is ours. Tested in updown_test.go.
package updown
