package hwmodel

import (
	"slices"
	"time"
)

// EventHop is how long a hop of an event packet takes on the network of the ETL controller: [Hayakawa98] gives it
// as a bound (§3.1.1) and uses it as the time (§3.2.1).
const EventHop = 3 * time.Microsecond

// The links of the ETL controller: an event link and a data link to each neighbour, of at most 100 Mbps each
// ([Hayakawa98] §2.1). The sizes of packets are those of Responsive Link.
const (
	EventLink   = 100_000_000 // bits a second
	DataLink    = 100_000_000
	EventSize   = 16 // bytes of a packet
	DataSize    = 64
	DataPayload = 56
)

// TorusHops returns the number of hops between two nodes of a torus whose nodes are numbered row by row.
func TorusHops(rows, columns, a, b int) int {
	ring := func(n, a, b int) int {
		d := a - b
		if d < 0 {
			d = -d
		}
		return min(d, n-d)
	}
	return ring(rows, a/columns, b/columns) + ring(columns, a%columns, b%columns)
}

// AlignedStart returns how long each node of a torus waits after the master's packet has arrived, so that all nodes
// go on when the last packet arrives ([Hayakawa98] §3.2.1). The master sends one packet every slot, to the farthest
// node first, and itself waits longest. With a slot of 0 this is the paper's formula, wait = hop · (H − hops).
func AlignedStart(rows, columns, master int, hop, slot time.Duration) []time.Duration {
	n := rows * columns
	order := make([]int, 0, n)
	for i := range n {
		if i != master {
			order = append(order, i)
		}
	}
	far := func(i int) int { return TorusHops(rows, columns, master, i) }
	slices.SortStableFunc(order, func(a, b int) int { return far(b) - far(a) })
	arrives := make([]time.Duration, n)
	var last time.Duration
	for k, i := range order {
		arrives[i] = time.Duration(k)*slot + time.Duration(far(i))*hop
		last = max(last, arrives[i])
	}
	waits := make([]time.Duration, n)
	for i := range waits {
		waits[i] = last - arrives[i]
	}
	return waits
}
