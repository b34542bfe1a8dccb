package stress

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"

	"weft"
	"weft/mpi"
)

// A survivor is a member of a group that outlives others.
type survivor struct {
	*actor
	group *mpi.Comm
	seen  uint64 // a hash of what has been agreed on
}

// mostGivenUp is in how many generations of a group a member may give up without a reason.
const mostGivenUp = 4

// survive: members add numbers, agree after each sum on whether all have it, and shrink their group if not, because a
// member has died or has given up. Members of one group have the same sums, and have agreed on the same.
func survive(s *scene) {
	const generations = 64
	m := &survivor{actor: s.actor(s.name + " main")}
	defer m.end()
	if m.call("CreateGroup", func() (err error) { m.group, err = comm(m.actor, s, 0); return err }) != fine {
		return
	}
	rounds := 1 + s.shared.IntN(8)
	for round := 0; round < rounds; {
		sum, has := m.sum(round)
		all, ok := m.agree(has)
		if !ok {
			return
		}
		if all.Flags == 1 {
			m.check(round, sum)
			round++
			continue
		}
		if m.group.Generation() == generations {
			m.found("%s: a group of %d members has been shrunk %d times", m.name, len(s.members), generations)
			return
		}
		if !m.shrink() {
			return
		}
	}
	m.part(m.group)
}

// sums are what members reduce in a round.
type sums struct {
	values []int64
	seen   []uint64 // the hash, and its complement: the largest are the same if all are
}

// sum reduces, and reports whether that has come to a good end. Some members give up now and then.
func (m *survivor) sum(round int) (s sums, has bool) {
	s.values = make([]int64, 1+round*1000)
	for i := range s.values {
		s.values[i] = m.value(m.p.Rank(), round, i)
	}
	s.seen = []uint64{m.seen, ^m.seen}
	if m.group.Generation() < mostGivenUp && m.rng.IntN(20) == 0 {
		m.do("Comm.Revoke", func() error { m.group.Revoke(errors.New("a member has given up")); return nil })
		return s, false
	}
	err := m.do("mpi.AllReduce, which a death may end", func() error {
		return errors.Join(mpi.AllReduce(m.ctx, m.group, s.values, mpi.Sum),
			mpi.AllReduce(m.ctx, m.group, s.seen, mpi.Max))
	})
	return s, err == nil
}

// value is what a rank adds.
func (m *survivor) value(rank, round, i int) int64 { return int64(rank*1_000_003 + round*101 + i) }

// check compares what all members of the group say that they have.
func (m *survivor) check(round int, s sums) {
	for i, got := range s.values {
		want := int64(0)
		for _, rank := range m.group.Group().Ranks() {
			want += m.value(rank, round, i)
		}
		if got != want {
			m.found("%s: generation %d: the sum of %v is %d at element %d, not %d", m.name, m.group.Generation(),
				m.group.Group().Ranks(), got, i, want)
			return
		}
	}
	if s.seen[0] != ^s.seen[1] {
		m.found("%s: generation %d: members of %v have agreed on different things", m.name, m.group.Generation(),
			m.group.Group().Ranks())
	}
}

// agree agrees with the others on whether all have the sum. It reports false if this rank can go on no more.
func (m *survivor) agree(has bool) (all mpi.Agreement, ok bool) {
	flags := uint64(0)
	if has {
		flags = 1
	}
	err := m.do("Comm.Agree", func() (err error) { all, err = m.group.Agree(m.ctx, flags); return err })
	if !m.settled("Comm.Agree", err) {
		return all, false
	}
	h := fnv.New64a()
	fmt.Fprint(h, m.seen, m.group.Generation(), all.Flags, all.Dead)
	m.seen = h.Sum64()
	return all, true
}

// shrink goes on with the members that are left.
func (m *survivor) shrink() bool {
	old := m.group
	err := m.do("Comm.Shrink", func() (err error) { m.group, err = old.Shrink(m.ctx); return err })
	m.part(old)
	return m.settled("Comm.Shrink", err)
}

// part frees a communicator, which may be revoked.
func (m *survivor) part(g *mpi.Comm) {
	err := m.do("Comm.Free", func() error { return g.Free(m.ctx) })
	if !errors.Is(err, weft.ErrRevoked) {
		m.judge("Comm.Free", err, false)
	}
}

// settled reports whether an agreement has come to its end: the death of a member is no reason why it should not.
func (m *survivor) settled(what string, err error) bool {
	if !m.leaving.Load() && m.ctx.Err() == nil &&
		(errors.Is(err, weft.ErrPeer) || errors.Is(err, weft.ErrRevoked) || errors.Is(err, context.Canceled)) {
		m.found("%s: %s: %v", m.name, what, err)
		return false
	}
	return m.judge(what, err, false) == fine
}
