package traffic

import (
	"math"
	"slices"
	"time"
)

// An Incast is the figures of many senders with long flows to one receiver, and short messages beside them.
type Incast struct {
	Goodput float64       // of the receiver's link: bytes of messages
	Lost    float64       // of the packets, after the first round trips
	Unfair  float64       // the largest distance of a sender's share from the mean, of the mean
	Short   time.Duration // half a round trip of 8 bytes: the 99th percentile
	Idle    time.Duration // the same while nobody else sends
	Before  Counts        // in the first round trips
	Counts  Counts        // afterwards
}

// The times of an incast: Settle is the part that counts as the first round trips.
const (
	settle = 10 * time.Millisecond
	watch  = 100 * time.Millisecond
)

// RunIncast lets senders send to host 0 as much as they can, and the last host exchange short messages with it.
// Each sender has sent a message before, alone.
func RunIncast(c Case, senders int) (r Incast, err error) {
	n, err := Open(c)
	if err != nil {
		return r, err
	}
	var trips []time.Duration
	for i := range senders { // none is new to its receiver
		came := false
		n.Send(spread(i, senders, c.Hosts), 0, 64<<10, func() { came = true })
		n.Until(settle, func() bool { return came })
	}
	n.pingPong(c.Hosts-1, 0, &trips)
	n.For(settle)
	r.Idle = percentile(trips, 0.99) / 2
	for i := range senders {
		n.stream(spread(i, senders, c.Hosts), 0)
	}
	n.For(settle)
	r.Before = n.Counts()
	got := n.received(senders)
	from := n.world.Now()
	trips = trips[:0]
	n.For(watch)
	r.Short = percentile(trips, 0.99) / 2
	r.Counts = n.Counts().less(r.Before)
	r.Lost = float64(r.Counts.Lost) / float64(r.Counts.Packets)
	all := 0.0
	mean := 0.0
	after := n.received(senders)
	for i := range after {
		after[i] -= got[i]
		all += after[i]
	}
	mean = all / float64(senders)
	for _, v := range after {
		r.Unfair = max(r.Unfair, math.Abs(v-mean)/mean)
	}
	r.Goodput = all * 8 / float64(c.Wire.Bandwidth) / n.world.Now().Sub(from).Seconds()
	return r, nil
}

// spread returns the host of sender i: senders are spread over the hosts that are not near host 0.
func spread(i, senders, hosts int) int { return hosts/8 + i*(hosts-hosts/8-1)/senders }

// received returns how many bytes have arrived from each sender.
func (n *Network) received(senders int) []float64 {
	got := make([]float64, senders)
	for i := range got {
		got[i] = float64(n.got[[2]int{spread(i, senders, n.Hosts), 0}])
	}
	return got
}

// stream sends long messages without end.
func (n *Network) stream(from, to int) {
	var again func()
	again = func() { n.Send(from, to, Longest, again) }
	again()
	again()
}

// pingPong sends 8 bytes to and fro without end, and records the time of each round trip.
func (n *Network) pingPong(from, to int, trips *[]time.Duration) {
	var ping func()
	ping = func() {
		begun := n.world.Now()
		n.Send(from, to, 8, func() {
			n.Send(to, from, 8, func() {
				*trips = append(*trips, n.world.Now().Sub(begun))
				ping()
			})
		})
	}
	ping()
}

// percentile returns the time that a share p of all times does not exceed, for p from 0 to 1; 0 if there are none.
func percentile(of []time.Duration, p float64) time.Duration {
	if len(of) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(of))
	return sorted[min(int(p*float64(len(sorted))), len(sorted)-1)]
}

func (c Counts) less(b Counts) Counts {
	return Counts{c.Packets - b.Packets, c.Lost - b.Lost, c.Resent - b.Resent, c.Timeouts - b.Timeouts}
}
