package doctor

import (
	"context"
	"encoding/binary"
	"errors"
	"slices"
	"time"

	"weft"
)

// What a measurement takes, at most.
const (
	trips     = 2000                  // round trips
	tripTime  = 30 * time.Millisecond // for all of them
	warmTrips = 20                    // that do not count
	bulkSize  = 256 << 10             // of a message for bandwidth
	bulks     = 1000                  // of them
	bulkTime  = 60 * time.Millisecond // for all of them
	pairTime  = 30 * time.Second      // for a pair, however slow
	channel   = 1
)

// The first byte of a message says what it is.
const (
	hello byte = iota
	ping       // answer with your clock
	bulk       // count it
	last       // the measurement is over
)

// A meter is one rank as it measures.
type meter struct {
	p     *weft.Proc
	q     *weft.Port
	clock func() time.Time
}

// Measure measures the ways between all ranks of a job, and returns how this one reaches
// the others. All ranks call it. Pairs are measured in rounds in which each rank is
// in one of them at most, so that no pair has to share its host with another.
func Measure(ctx context.Context, p *weft.Proc) ([]Peer, error) { return measure(ctx, p, time.Now) }

// measure measures with a clock of the host.
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

// rounds returns how many rounds it takes until each of n has met each other.
func rounds(n int) int { return n + n%2 - 1 }

// partner returns whom a rank meets in a round, or -1: all but the last stand in a circle
// that turns, and the last meets whoever would meet itself.
func partner(rank, round, n int) int {
	circle := rounds(n) // an odd number
	if rank == circle { // the last, if n is even
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

// meetsItself returns which of an odd circle would meet itself in a round.
func meetsItself(round, circle int) int { return round * (circle + 1) / 2 % circle }

// meet measures the way to another rank, which does the same at the same time, and tells
// how it is.
func (m *meter) meet(ctx context.Context, other int) Peer {
	ctx, cancel := context.WithTimeout(ctx, pairTime)
	defer cancel()
	seen := Peer{Rank: other}
	measured, err := m.with(ctx, other)
	if err != nil {
		seen.Error = plain(err)
	}
	seen.Measured = measured
	for _, peer := range m.p.Peers() { // now the paths have been looked at
		if peer.Rank == other {
			seen.Transport, seen.Why, seen.Path, seen.Guard, seen.MTU = peer.Transport, peer.Why, peer.Path, peer.Guard, peer.MTU
		}
	}
	return seen
}

// plain returns what an error says, without what every error of weft begins with.
func plain(err error) string {
	var dead *weft.PeerError
	if errors.As(err, &dead) && dead.Cause != nil {
		return dead.Cause.Error()
	}
	return err.Error()
}

// with measures, as the one that asks if our rank is the lower one, else as the one that
// answers.
func (m *meter) with(ctx context.Context, other int) (*Measured, error) {
	if _, err := m.p.Connect(ctx, other); err != nil {
		return nil, err
	}
	// Both say something first, so that both notice if nothing arrives.
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

// latency measures round trips, and from the shortest how far the other's clock is ahead
// (F. Cristian, Probabilistic Clock Synchronization, 1989): the answer was written
// at some moment of the trip, so half of the trip is how wrong the middle can be.
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

// bandwidth measures how fast long messages go, and what of them got lost.
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
	if _, err := m.next(ctx, other); err != nil { // it has come
		return err
	}
	took := m.p.Now() - start
	after := m.p.Stats()
	r.Bandwidth = float64(sent) * bulkSize / 1e6 / took.Seconds()
	r.Packets = after.PacketsSent - before.PacketsSent
	r.Resent = after.Retransmitted - before.Retransmitted
	return nil
}

// answer does what the other rank's measurement needs.
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
