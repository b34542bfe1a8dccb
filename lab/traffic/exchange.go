package traffic

import (
	"math"
	"time"
)

// An Exchange is the figures of a pattern of messages between all hosts.
type Exchange struct {
	Time   time.Duration
	Counts Counts
	Done   bool // in the time that it was given
}

// tooLong is the virtual time after which an exchange is given up.
const tooLong = 10 * time.Second

// steps is the number of steps of a halo exchange; atOnce is how many messages of an all-to-all a host has under
// way at a time.
const (
	steps  = 10
	atOnce = 32
)

// RunHalo lets all hosts exchange messages of so many bytes with their four neighbours, step after step. The hosts
// are placed on a torus that is as square as possible. A host begins a step when it has all messages of the last
// one.
func RunHalo(c Case, size int) (Exchange, error) {
	n, err := Open(c)
	if err != nil {
		return Exchange{}, err
	}
	hosts := c.Hosts
	rows := int(math.Sqrt(float64(hosts)))
	for hosts%rows != 0 {
		rows--
	}
	columns := hosts / rows
	step := make([]int, hosts)
	came := make([]map[int]int, hosts)
	ended := 0
	around := func(i int) [4]int {
		r := i / columns
		k := i % columns
		at := func(r, k int) int { return (r+rows)%rows*columns + (k+columns)%columns }
		return [4]int{at(r-1, k), at(r, k-1), at(r, k+1), at(r+1, k)}
	}
	var begin func(i int)
	begin = func(i int) {
		if step[i] == steps {
			ended++
			return
		}
		s := step[i]
		for _, to := range around(i) {
			n.Send(i, to, size, func() {
				came[to][s]++
				if step[to] == s && came[to][s] == 4 {
					delete(came[to], s)
					step[to]++
					begin(to)
				}
			})
		}
	}
	for i := range came {
		came[i] = map[int]int{}
	}
	for i := range hosts {
		begin(i)
	}
	return n.ended(func() bool { return ended == hosts }), nil
}

// RunAllToAll lets every host send a message of so many bytes to every other, in the order of their distance.
func RunAllToAll(c Case, size int) (Exchange, error) {
	n, err := Open(c)
	if err != nil {
		return Exchange{}, err
	}
	left := c.Hosts * (c.Hosts - 1)
	n.forgets = true
	next := make([]int, c.Hosts)
	var send func(i int)
	send = func(i int) {
		if next[i]++; next[i] < c.Hosts {
			n.Send(i, (i+next[i])%c.Hosts, size, func() { left--; send(i) })
		}
	}
	for range atOnce {
		for i := range c.Hosts {
			send(i)
		}
	}
	return n.ended(func() bool { return left == 0 }), nil
}

// ended runs an exchange to its end.
func (n *Network) ended(done func() bool) (e Exchange) {
	e.Done = n.Until(tooLong, done)
	e.Time = n.Now()
	e.Counts = n.Counts()
	return e
}
