package coord

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"weft/internal/engine/link"
	"weft/internal/engine/wire"
)

// A table is some nodes and the events on their way between them, which a test
// delivers in any order that keeps that of each pair.
type table struct {
	t     testing.TB
	rand  *rand.Rand
	nodes []*Node
	lists []link.Active
	ways  [][][]wire.Event // by sender and receiver
	sent  map[wire.EventKind]int
}

func newTable(t testing.TB, n int, seed uint64) *table {
	tb := &table{t: t, rand: rand.New(rand.NewPCG(seed, 1)), lists: make([]link.Active, n), sent: map[wire.EventKind]int{}}
	for rank := range n {
		queues := map[int]*link.Queue{}
		tb.nodes = append(tb.nodes, NewNode(rank, n, Peers{
			Queue: func(to int) *link.Queue {
				if queues[to] == nil {
					queues[to] = link.NewQueue(to, &tb.lists[rank])
				}
				return queues[to]
			},
			Want: func(int) {}, Raise: func(uint64, uint64) {},
		}))
		tb.ways = append(tb.ways, make([][]wire.Event, n))
	}
	return tb
}

// collect takes what the nodes have to send.
func (tb *table) collect() {
	for from := range tb.nodes {
		for q := tb.lists[from].First(); q != nil; q = tb.lists[from].First() {
			for head, payload, _, ok := q.Next(1 << 12); ok; head, payload, _, ok = q.Next(1 << 12) {
				f, err := wire.ParseEvent(head)
				if err != nil {
					tb.t.Fatal(err)
				}
				if from != q.Rank {
					tb.sent[f.Kind]++
				}
				tb.ways[from][q.Rank] = append(tb.ways[from][q.Rank], f)
				q.Sent(len(payload))
			}
			tb.lists[from].Remove()
		}
	}
}

// deliver delivers one event, and reports whether there was one.
func (tb *table) deliver() bool {
	tb.collect()
	var some [][2]int
	for a, row := range tb.ways {
		for b, way := range row {
			if len(way) > 0 {
				some = append(some, [2]int{a, b})
			}
		}
	}
	if len(some) == 0 {
		return false
	}
	p := some[tb.rand.IntN(len(some))]
	f := tb.ways[p[0]][p[1]][0]
	tb.ways[p[0]][p[1]] = tb.ways[p[0]][p[1]][1:]
	if err := tb.nodes[p[1]].Recv(0, p[0], f.Append(nil)); err != nil {
		tb.t.Fatalf("%v from %d to %d: %v", f.Kind, p[0], p[1], err)
	}
	return true
}

func (tb *table) open(c Config) (all []*Object) {
	for _, n := range tb.nodes {
		o, err := n.Open(0, c)
		if err != nil {
			tb.t.Fatal(err)
		}
		all = append(all, o)
	}
	return all
}

// TestQueueLock is spec/oracles/distributed_lock.py: in any order of events the
// lock is held by one at a time, and goes round in the order of requests; at the
// end the token is with one who does not use it.
func TestQueueLock(t *testing.T) {
	const n, requests = 5, 6
	for _, fair := range []bool{false, true} {
		most := 0
		for seed := range uint64(3000) {
			tb := newTable(t, n, seed)
			locks := tb.open(Config{Class: QueueLock, Name: "L", Fair: fair})
			left, ops, holder, grants := make([]int, n), make([]*Op, n), -1, 0
			var epoch uint64
			for rank := range left {
				left[rank] = requests
			}
			granted := func(rank int, op *Op) {
				if holder >= 0 || op.Err != nil || op.Epoch <= epoch || op.Died {
					t.Fatalf("seed %d: %+v granted to %d, held by %d", seed, op, rank, holder)
				}
				holder, epoch = rank, op.Epoch
				grants++
			}
			for moved := true; moved; {
				moved = tb.rand.IntN(2) == 0 && tb.deliver()
				for _, rank := range tb.rand.Perm(n) {
					nd := tb.nodes[rank]
					switch {
					case ops[rank] == nil && left[rank] > 0 && tb.rand.IntN(2) == 0:
						left[rank]--
						ops[rank] = &Op{Kind: Lock, Object: locks[rank]}
						if nd.Start(0, ops[rank]); ops[rank].Done {
							granted(rank, ops[rank])
						}
						moved = true
					case holder == rank && tb.rand.IntN(2) == 0:
						nd.Start(0, &Op{Kind: Unlock, Object: locks[rank]})
						holder, ops[rank] = -1, nil
						moved = true
					}
				}
				moved = tb.deliver() || moved || holder >= 0
				for rank, nd := range tb.nodes {
					if op := nd.Finished(); op != nil {
						granted(rank, op)
					}
					moved = moved || left[rank] > 0
				}
			}
			owners := 0
			for _, nd := range tb.nodes {
				for _, s := range nd.States() {
					if s.Owns {
						owners++
					}
				}
			}
			if grants != n*requests || owners != 1 {
				t.Fatalf("seed %d: %d grants, %d have the token", seed, grants, owners)
			}
			sum := 0
			for _, k := range tb.sent {
				sum += k
			}
			most = max(most, sum)
		}
		if most > 3*n*requests {
			t.Errorf("fair %v: %d messages for %d grants", fair, most, n*requests)
		}
	}
}

// TestStorm: however many want the lock, the home is told of each request once,
// and of no release. With a central queue it is told of both.
func TestStorm(t *testing.T) {
	for _, c := range []struct {
		class Class
		home  float64 // events at the home for each grant
	}{{QueueLock, 1}, {CentralLock, 2}} {
		const n, times = 16, 50
		tb := newTable(t, n, 1)
		locks := tb.open(Config{Class: c.class, Name: "L"})
		home := tb.nodes[tb.nodes[0].homeOf(locks[0].ID)]
		holder, left := -1, n*times
		ops := make([]*Op, n)
		for grants := 0; grants < n*times; {
			for rank := range n {
				if ops[rank] == nil && left > 0 && rank != holder {
					left--
					ops[rank] = &Op{Kind: Lock, Object: locks[rank]}
					if tb.nodes[rank].Start(0, ops[rank]); ops[rank].Done {
						holder = rank
						grants++
					}
				}
			}
			for tb.deliver() {
			}
			for rank, nd := range tb.nodes {
				if op := nd.Finished(); op != nil {
					holder = rank
					grants++
				}
			}
			if holder >= 0 {
				tb.nodes[holder].Start(0, &Op{Kind: Unlock, Object: locks[holder]})
				ops[holder], holder = nil, -1
			}
		}
		if got := float64(home.Stats.Homes) / (n * times); got > c.home+0.1 {
			t.Errorf("%s: %.2f events at the home for each grant, want %v", fmt.Sprint(c.class), got, c.home)
		}
	}
}
