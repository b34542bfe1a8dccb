package stress

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"weft"
	"weft/internal/engine"
	"weft/internal/inside"
	"weft/internal/sim/job"
)

// patience is how much virtual time may pass in which no goroutine makes progress.
const patience = 30 * time.Second

// A simulation is the stage of a simulated job. It sees the whole cluster.
type simulation struct {
	*director
	only, spoil string
	cluster     *job.Job // nil until the first rank has begun
	players     []*rank
	cuts        map[[2]int]int // how many strikes have cut a path
	cancel      context.CancelFunc
	progress    uint64        // of all ranks
	since       time.Duration // when it last changed
}

// Simulate plays the job of a plan under weft.Simulate, and returns what came of it, with a Failure or nil. Only and
// spoil are those of Options. The log may be nil.
func Simulate(ctx context.Context, plan Plan, only, spoil string, log io.Writer) (*Failure, *weft.Simulation) {
	if only == endsKind {
		return simulateEnds(ctx, plan, log)
	}
	s := &simulation{only: only, spoil: spoil, players: make([]*rank, plan.N), cuts: map[[2]int]int{}}
	s.director = newDirector(plan, s, false)
	ctx, s.cancel = context.WithCancel(ctx)
	defer s.cancel()
	result, err := weft.Simulate(ctx, weft.Cluster{
		Ranks: plan.N, PerHost: plan.perHost(), Link: plan.Network.link, MTU: plan.Network.mtu, GoBackN: plan.Network.goBackN,
		Liveness: plan.Liveness, Seed: plan.Seed, Log: log,
	}, s.play)
	if err != nil && !s.stuck {
		s.fail("%v", err)
		s.explain()
	}
	if len(s.broken) == 0 {
		return nil, result
	}
	return &Failure{Plan: plan, Found: append(s.broken, s.states)}, result
}

// play is the function of a rank.
func (s *simulation) play(ctx context.Context, p *weft.Proc) error {
	r := newRank(ctx, s.plan.Seed, s.only, s.spoil, s.told)
	r.p = p
	r.stage = s
	s.players[p.Rank()] = r
	if s.cluster == nil {
		s.cluster = inside.Cluster(p)
		s.cluster.Net.Faults = s.plan.Network.faults
		for rank, drift := range s.plan.Network.drift {
			s.cluster.Net.Machine(rank).Drift = drift
		}
		for _, c := range s.plan.Network.clogs {
			s.after(c.after, func() { s.clog(c) })
		}
		s.watch()
	}
	r.run()
	if !r.returns() {
		r.leave()
		r.allEnded()
	}
	s.told(note{Kind: noteBye, Rank: p.Rank()})
	return nil
}

// told hands a note of a rank to the director.
func (s *simulation) told(n note) {
	if n.Kind == noteHello {
		r := s.players[n.Rank]
		n.tell = func(n note) { s.cluster.Ranks[r.p.Rank()].Later(func() { r.hear(n) }) }
	}
	s.hear(n)
}

// watch looks from time to time whether the ranks make progress, until all have ended.
func (s *simulation) watch() {
	if !slices.ContainsFunc(s.ranks, func(p *player) bool { return !p.bye && !p.out }) {
		return
	}
	var progress uint64
	for _, r := range s.players {
		if r != nil {
			progress += r.progress.Load()
		}
	}
	if progress != s.progress || s.moved > s.since || s.anyStopped() {
		s.progress = progress
		s.since = s.now()
	}
	if s.now()-s.since > patience {
		s.fail("stuck in round %d: nothing has got on for %v", s.round, patience)
		s.explain()
		s.stuck = true
		s.cancel()
		return
	}
	s.after(time.Second, s.watch)
}

// explain collects what the ranks do, and what their engines wait for.
func (s *simulation) explain() {
	var b strings.Builder
	for i, r := range s.players {
		if r == nil || s.ranks[i].out {
			continue
		}
		b.WriteString(r.state())
		inside.OfProc(r.p).Node.Engine(func(e *engine.Engine) {
			for _, line := range append(e.Unfinished(), e.Msg.Waiting()...) {
				fmt.Fprintf(&b, "rank %d's engine: %s\n", i, line)
			}
		})
	}
	s.states = b.String()
}

func (s *simulation) now() time.Duration { return time.Duration(s.cluster.World.Now()) }

func (s *simulation) after(d time.Duration, f func()) { s.cluster.World.After(d, f) }

func (s *simulation) kill(rank int) {
	r := s.cluster.Ranks[rank]
	node := inside.OfProc(s.players[rank].p).Node
	if !r.Crashed() && !node.Leaving() {
		s.ranks[rank].out = true
		r.Kill(node.Crash)
	}
}

func (s *simulation) stop(rank int, d time.Duration) { s.cluster.Net.Machine(rank).Pause(d) }

func (s *simulation) resume(int) {}

func (s *simulation) excuses(int, int) bool { return false }

func (s *simulation) cut(rank int, d time.Duration) {
	for other := range s.plan.N {
		s.cuts[[2]int{rank, other}]++
		s.cuts[[2]int{other, rank}]++
	}
	s.mendPaths()
	s.after(d, func() {
		for other := range s.plan.N {
			s.cuts[[2]int{rank, other}]--
			s.cuts[[2]int{other, rank}]--
		}
		s.mendPaths()
	})
}

// mendPaths cuts the paths that some strike has cut, and heals the others.
func (s *simulation) mendPaths() {
	for from := range s.plan.N {
		for to := range s.plan.N {
			switch n := s.cuts[[2]int{from, to}]; {
			case n > 0 && !s.cluster.Net.IsCut(from, to):
				s.cluster.Net.Cut(from, to)
			case n == 0 && s.cluster.Net.IsCut(from, to):
				s.cluster.Net.Heal(from, to)
			}
		}
	}
}

// together reports whether ranks share memory.
func (s *simulation) together(members []int) bool {
	n := s.plan.perHost()
	return n > 1 && !slices.ContainsFunc(members, func(m int) bool { return m/n != members[0]/n })
}

func (s *simulation) bury(rank int) {
	down := func(at, of int) {
		s.cluster.Ranks[at].Later(func() { inside.OfProc(s.players[at].p).Node.Down(of, errBuried, false) })
	}
	for other := range s.plan.N {
		if other != rank {
			down(other, rank)
			down(rank, other)
		}
	}
}

// errBuried is the cause of a death that a rank might not have noticed by itself, since it has no link to the rank.
var errBuried = errors.New("all others take it for dead")

// clog makes a path hold packets back, or lose the long ones.
func (s *simulation) clog(c clog) {
	if c.most == 0 {
		s.cluster.Net.Clog(c.from, c.to, c.lasts)
		return
	}
	s.cluster.Net.Narrow(c.from, c.to, c.most)
	s.after(c.lasts, func() { s.cluster.Net.Narrow(c.from, c.to, 0) })
}
