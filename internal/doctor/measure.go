package doctor

import (
	"context"
	"encoding/binary"
	"errors"
	"slices"
	"time"

	"weft"
)

// Bounds of a measurement.
const (
	trips     = 2000                  // round trips at most
	tripTime  = 30 * time.Millisecond // for all round trips
	warmTrips = 20                    // round trips that do not count
	bulkSize  = 256 << 10             // bytes of a message when bandwidth is measured
	bulks     = 1000                  // such messages at most
	bulkTime  = 60 * time.Millisecond // for all such messages
	pairTime  = 30 * time.Second      // for a pair, after which it counts as failed
	channel   = 1
)

// The first byte of a message is its kind.
const (
	hello byte = iota
	ping       // the receiver answers with its clock
	bulk       // the receiver reads it only
	last       // the measurement is over
)

// A meter measures the paths from one rank.
type meter struct {
	p     *weft.Proc
	q     *weft.Port
	clock func() time.Time
}

// Measure measures the paths between all ranks of a job, and returns those from this rank. All ranks call it. It
// measures in rounds: in a round each rank belongs to at most one pair, so that pairs do not disturb each other.
func Measure(ctx context.Context, p *weft.Proc) ([]Peer, error) { return measure(ctx, p, time.Now) }

// measure is Measure with a clock.
func measure(ctx context.Context, p *weft.Proc, clock func() time.Time) ([]Peer, error) {
	q, err := p.OpenPort(channel, nil)
	if err != nil {
		return nil, err
	}
	defer q.Close()
	m := &meter{p, q, clock}
	peers := make([]Peer, 0, p.Size()-1)
	for round := range rounds(p.Size()) {
		other := partner(p.Rank(), round, p.Size())
		if other < 0 {
			continue
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		peers = append(peers, m.meet(ctx, other))
	}
	slices.SortFunc(peers, func(a, b Peer) int { return a.Rank - b.Rank })
	return peers, nil
}

// rounds returns the number of rounds after which each of n ranks has met every other.
func rounds(n int) int { return n + n%2 - 1 }

// partner returns the rank that a rank meets in a round, or -1 for none. This is the circle method for round-robin
// tournaments: all ranks but the last stand in a circle that turns by one each round, and the rank that would meet
// itself meets the last one.
func partner(rank, round, n int) int {
	circle := rounds(n) // an odd number
	if rank == circle { // the last rank, if n is even
		return meetsItself(round, circle)
	}
	other := ((round-rank)%circle + circle) % circle
	if other == rank {
		other = circle
	}
	if other >= n {
		return -1
	}
	return other
}

// meetsItself returns the rank of an odd circle that would meet itself in a round.
func meetsItself(round, circle int) int { return round * (circle + 1) / 2 % circle }

// meet measures the path to another rank, which calls meet for this rank at the same time.
func (m *meter) meet(ctx context.Context, other int) Peer {
	ctx, cancel := context.WithTimeout(ctx, pairTime)
	defer cancel()
	seen := Peer{Rank: other}
	measured, err := m.with(ctx, other)
	if err != nil {
		seen.Error = plain(err)
	}
	seen.Measured = measured
	for _, peer := range m.p.Peers() { // after the messages, when the transport knows the path
		if peer.Rank == other {
			seen.Transport = string(peer.Transport)
			seen.Why = peer.Why
			seen.Path = peer.Path
			seen.Guard = string(peer.Guard)
			seen.MTU = peer.MTU
		}
	}
	return seen
}

// plain returns the text of an error, without the rank that the table names already.
func plain(err error) string {
	var dead *weft.PeerError
	if errors.As(err, &dead) && dead.Cause != nil {
		return dead.Cause.Error()
	}
	return err.Error()
}

// with measures the path to another rank. The lower rank of the two sends, and the higher one answers.
func (m *meter) with(ctx context.Context, other int) (*Measured, error) {
	if _, err := m.p.Connect(ctx, other); err != nil {
		return nil, err
	}
	// Each sends a message first, so that both notice a path on which nothing arrives.
	if err := m.q.Send(ctx, other, []byte{hello}); err != nil {
		return nil, err
	}
	if _, err := m.next(ctx, other); err != nil {
		return nil, err
	}
	if m.p.Rank() > other {
		return nil, m.answer(ctx, other)
	}
	var r Measured
	if err := m.latency(ctx, other, &r); err != nil {
		return nil, err
	}
	err := m.bandwidth(ctx, other, &r)
	return &r, err
}

// next receives a message from a rank, and returns its first bytes.
func (m *meter) next(ctx context.Context, from int) (head [9]byte, err error) {
	got, err := m.q.RecvFrom(ctx, from)
	if err != nil {
		return head, err
	}
	copy(head[:], got.Data)
	got.Release()
	return head, nil
}

// latency measures round trips. From the shortest it computes the offset of the other rank's clock by the algorithm of
// F. Cristian, Probabilistic Clock Synchronization, 1989: the answer, which has the other's clock in it, was written at
// some moment of the round trip. Taken as its middle, that moment is wrong by at most half of the round trip.
func (m *meter) latency(ctx context.Context, other int, r *Measured) error {
	var all []time.Duration
	best := time.Duration(1<<63 - 1)
	message := make([]byte, 16)
	message[0] = ping
	for start := m.p.Now(); len(all) < warmTrips+trips && (len(all) <= warmTrips || m.p.Now()-start < tripTime); {
		before := m.p.Now()
		ours := m.clock()
		if err := m.q.Send(ctx, other, message); err != nil {
			return err
		}
		head, err := m.next(ctx, other)
		if err != nil {
			return err
		}
		trip := m.p.Now() - before
		all = append(all, trip)
		if trip < best {
			best = trip
			theirs := time.Unix(0, int64(binary.LittleEndian.Uint64(head[1:])))
			r.Offset = theirs.Sub(ours.Round(0).Add(trip / 2))
			r.Uncertainty = trip / 2
		}
	}
	all = all[warmTrips:]
	slices.Sort(all)
	r.Latency = all[len(all)/2] / 2
	return nil
}

// bandwidth measures the rate of long messages, and how many packets were lost.
func (m *meter) bandwidth(ctx context.Context, other int, r *Measured) error {
	message := make([]byte, bulkSize)
	message[0] = bulk
	before := m.p.Stats()
	start := m.p.Now()
	sent := 0
	for ; sent < bulks && (sent < 2 || m.p.Now()-start < bulkTime); sent++ {
		if err := m.q.Send(ctx, other, message); err != nil {
			return err
		}
	}
	if err := m.q.Send(ctx, other, []byte{last}); err != nil {
		return err
	}
	if _, err := m.next(ctx, other); err != nil { // the other rank has received all
		return err
	}
	took := m.p.Now() - start
	after := m.p.Stats()
	r.Bandwidth = float64(sent) * bulkSize / 1e6 / took.Seconds()
	r.Packets = after.PacketsSent - before.PacketsSent
	r.Resent = after.Retransmitted - before.Retransmitted
	return nil
}

// answer answers the messages of the other rank's measurement.
func (m *meter) answer(ctx context.Context, other int) error {
	reply := make([]byte, 16)
	reply[0] = ping
	for {
		head, err := m.next(ctx, other)
		if err != nil {
			return err
		}
		switch head[0] {
		case ping:
			binary.LittleEndian.PutUint64(reply[1:], uint64(m.clock().UnixNano()))
			err = m.q.Send(ctx, other, reply)
		case last:
			return m.q.Send(ctx, other, reply)
		}
		if err != nil {
			return err
		}
	}
}
