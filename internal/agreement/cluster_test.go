package agreement

import (
	"fmt"
	"math/rand/v2"
	"slices"
)

// A cluster is some members and what is on its way between them. A seed decides what happens next: a member proposes,
// a message arrives, a member ends, perhaps with half of its messages sent, another one hears of it, or takes one for
// dead that lives.
type cluster struct {
	r          *rand.Rand
	nodes      []*Node
	flags      [][]uint64    // what members contribute, by member and number
	ended      []bool        // members
	shuns      [][]bool      // the first has been told that the second is down
	lanes      [][][]Message // by sender and receiver
	agreements uint32
	results    [][]result // by member
	log        []string
}

// A result is what a member was told.
type result struct {
	Value
	dead Set // in the member's view then
}

func newCluster(seed uint64, n int, agreements uint32) *cluster {
	c := &cluster{r: rand.New(rand.NewPCG(seed, 16)), agreements: agreements}
	for i := range n {
		c.nodes = append(c.nodes, New(n, i))
		c.flags = append(c.flags, nil)
		for range agreements {
			c.flags[i] = append(c.flags[i], ^(1 << c.r.IntN(8)))
		}
		c.shuns = append(c.shuns, make([]bool, n))
		c.lanes = append(c.lanes, make([][]Message, n))
		c.results = append(c.results, nil)
	}
	c.ended = make([]bool, n)
	return c
}

func (c *cluster) note(format string, args ...any) {
	c.log = append(c.log, fmt.Sprintf(format, args...))
}

// step lets a member do something. What it sends is on its way then, or only the first few messages if it ends.
func (c *cluster) step(i int, most int, do func(n *Node)) {
	n := c.nodes[i]
	before, _ := n.Decided()
	do(n)
	for k, l := range n.TakeOutgoing() {
		if k >= most {
			break
		}
		if c.ended[l.To] || c.shuns[l.To][i] {
			continue
		}
		m, err := Parse(l.Append(nil, len(c.nodes)), len(c.nodes))
		if err != nil {
			panic(err)
		}
		c.lanes[i][l.To] = append(c.lanes[i][l.To], m)
	}
	if number, v := n.Decided(); number != before && most > 0 {
		c.note("%d has decided %d: %x, dead %b", i, number, v.And, v.Dead)
		c.results[i] = append(c.results[i], result{v, n.Dead()})
	}
}

// An event is something that may happen.
type event struct {
	weight int
	do     func()
}

// events returns what may happen next.
func (c *cluster) events(faults int, falsely bool) []event {
	var may []event
	for i, n := range c.nodes {
		if c.ended[i] {
			continue
		}
		if n.Ready() && n.proposed < c.agreements {
			may = append(may, event{2, func() {
				c.note("%d proposes %d", i, n.proposed+1)
				c.step(i, 1000, func(n *Node) { n.Propose(c.flags[i][n.proposed], 0) })
			}})
		}
		if faults > 0 {
			may = append(may, event{1, func() { c.end(i) }})
		}
		for j := range c.nodes {
			switch {
			case i == j:
			case c.shuns[i][j]:
			case len(c.lanes[j][i]) > 0:
				may = append(may, event{4, func() { c.deliver(j, i, 1000) }})
				if c.ended[j] {
					may = append(may, event{1, func() { c.down(i, j) }})
				}
			case c.ended[j] || c.shuns[j][i]:
				may = append(may, event{2, func() { c.down(i, j) }})
			case faults > 0 && falsely:
				may = append(may, event{1, func() { c.down(i, j) }})
			}
		}
	}
	return may
}

func (c *cluster) deliver(from, to, most int) {
	m := c.lanes[from][to][0]
	c.lanes[from][to] = c.lanes[from][to][1:]
	c.step(to, most, func(n *Node) { n.Receive(from, m) })
}

// end ends a member: now, or in the middle of what it does next.
func (c *cluster) end(i int) {
	for j := range c.nodes {
		if len(c.lanes[j][i]) > 0 && !c.shuns[i][j] && c.r.IntN(2) == 0 {
			c.deliver(j, i, c.r.IntN(2))
			break
		}
	}
	c.note("%d ends", i)
	c.ended[i] = true
}

// down lets a member hear that another one is gone. What that has sent and has not arrived is lost.
func (c *cluster) down(i, j int) {
	c.note("%d hears that %d is gone", i, j)
	c.shuns[i][j] = true
	c.lanes[j][i] = nil
	c.step(i, 1000, func(n *Node) { n.Down(j) })
}

// play lets a seed take its course, and returns what is wrong.
func play(seed uint64, falsely bool) error {
	r := rand.New(rand.NewPCG(seed, 17))
	n := 1 + r.IntN(7)
	c := newCluster(seed, n, uint32(1+r.IntN(3)))
	faults := r.IntN(n + 1)
	for steps := 0; ; steps++ {
		may := c.events(faults, falsely)
		if !slices.ContainsFunc(may, func(e event) bool { return e.weight > 1 }) {
			break
		}
		if steps > 100_000 {
			return c.wrong("it does not come to an end")
		}
		total := 0
		for _, e := range may {
			total += e.weight
		}
		// Faults are rare: some happen before anything else, some after.
		at := c.r.IntN(total)
		for _, e := range may {
			if at -= e.weight; at >= 0 {
				continue
			}
			if e.weight == 1 {
				if c.r.IntN(n*3) > 0 {
					break
				}
				faults--
			}
			e.do()
			break
		}
	}
	return c.check(falsely)
}

func (c *cluster) wrong(format string, args ...any) error {
	text := ""
	for _, l := range c.log {
		text += "\n  " + l
	}
	return fmt.Errorf(format+"%s", append(args, text)...)
}

// check returns what is wrong at the end.
func (c *cluster) check(falsely bool) error {
	for i, n := range c.nodes {
		for k, res := range c.results[i] {
			and := ^uint64(0)
			for j := range c.nodes {
				if !res.Dead.Has(j) {
					and &= c.flags[j][k]
				} else if !falsely && !c.ended[j] {
					return c.wrong("agreement %d: %d is told that %d is dead, which lives", k+1, i, j)
				}
			}
			if res.And != and {
				return c.wrong("agreement %d: %d is told %x, and those that are not in %b have contributed %x", k+1, i, res.And,
					res.Dead, and)
			}
			for j := range c.nodes {
				if k >= len(c.results[j]) || res.dead.Has(j) && falsely || c.results[j][k].dead.Has(i) && falsely {
					continue
				}
				if other := c.results[j][k]; other.And != res.And || !other.Dead.Equal(res.Dead) {
					return c.wrong("agreement %d: %d is told %x, dead %b, and %d is told %x, dead %b", k+1, i, res.And, res.Dead,
						j, other.And, other.Dead)
				}
			}
		}
		if n.Excluded() && !falsely {
			return c.wrong("%d is excluded", i)
		}
		if number, _ := n.Decided(); !c.ended[i] && !n.Excluded() && number != c.agreements {
			return c.wrong("%d has decided %d of %d", i, number, c.agreements)
		}
	}
	return nil
}
