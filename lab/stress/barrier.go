package stress

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"weft"
)

// barrier: members go through the phases of a barrier of some algorithm. Nobody is over
// with a phase before all have arrived: the director compares the times.
func barrier(s *scene) {
	a := s.actor(s.name + " main")
	defer a.end()
	algorithms := []weft.BarrierAlgorithm{"", "", "auto", "central", "tree", "dissemination", "aligned", "modified",
		"rbcq1", "shared", "two-level", "shuffle"}
	algorithm := algorithms[s.shared.IntN(len(algorithms))]
	phases := 1 + s.shared.IntN(30)
	needsMemory := algorithm == "shared" || algorithm == "two-level" && a.p.Simulated() // processes have some among them
	if needsMemory && !a.together(s.members) {
		algorithm = "tree"
	}
	b := a.p.Barrier("barrier "+s.name, &weft.BarrierConfig{Algorithm: algorithm, Members: s.members})
	if algorithm == "rbcq1" {
		for i := range phases {
			distance := 1
			if i == phases-1 {
				distance = weft.LastBarrier
			}
			if a.call("Barrier.Sync", func() error { _, err := b.Sync(a.ctx, distance); return err }) != fine {
				return
			}
		}
		return
	}
	var in, out []int64
	ahead := algorithm != "aligned" && s.shared.IntN(2) == 0
	for len(out) < phases {
		if a.rng.IntN(4) == 0 {
			a.pause()
		}
		in = append(in, a.clock())
		if !ahead || a.rng.IntN(2) == 0 {
			if a.call("Barrier.Wait "+string(algorithm), func() error { return b.Wait(a.ctx) }) != fine {
				return
			}
			out = append(out, a.clock())
			continue
		}
		if !arrive(a, b, phases-len(out), &in, &out) {
			return
		}
	}
	a.tell(note{Kind: noteTimes, Rank: a.p.Rank(), Text: times(s.name, in, out)})
}

// arrive arrives at some phases before it waits for them.
func arrive(a *actor, b *weft.Barrier, most int, in, out *[]int64) bool {
	var open []weft.Phase
	n := min(1+a.rng.IntN(4), most)
	for i := range n {
		if i > 0 {
			*in = append(*in, a.clock())
		}
		var p weft.Phase
		if a.call("Barrier.Arrive", func() (err error) { p, err = b.Arrive(a.ctx); return err }) != fine {
			return false
		}
		open = append(open, p)
	}
	for _, p := range open {
		for {
			ctx := a.ctx
			cancel := context.CancelFunc(func() {})
			if a.rng.IntN(4) == 0 {
				ctx, cancel = a.brief(a.ctx)
			}
			err := a.do(fmt.Sprintf("Wait for phase %d", p.Number()), func() error { return p.Wait(ctx) })
			cancel()
			v := a.judge("Phase.Wait", err, ctx != a.ctx)
			if v == fine {
				break
			}
			if v != later {
				return false
			}
		}
		*out = append(*out, a.clock())
	}
	return true
}

// together reports whether all ranks are on one host and may share memory.
func (a *actor) together(members []int) bool {
	if a.stage != nil {
		return a.stage.together(members)
	}
	for _, m := range members {
		if m == a.p.Rank() {
			continue
		}
		p, err := a.p.Connect(a.ctx, m)
		if err != nil || p.Transport != "shm" {
			return false
		}
	}
	return true
}

// times writes down when phases began and ended for a member.
func times(name string, in, out []int64) string {
	var b strings.Builder
	b.WriteString(name)
	for i := range out {
		fmt.Fprintf(&b, ";%d %d", in[i], out[i])
	}
	return b.String()
}

// A clocking is when the last member arrived at each phase, and the first was over.
type clocking struct{ in, out []int64 }

// add adds the times of a member, and returns the first phase that somebody was over
// with before all had arrived, or -1.
func (c *clocking) add(text string) (phase int) {
	phase = -1
	for i, pair := range strings.Split(text, ";")[1:] {
		first, second, _ := strings.Cut(pair, " ")
		in, _ := strconv.ParseInt(first, 10, 64)
		out, _ := strconv.ParseInt(second, 10, 64)
		if i == len(c.in) {
			c.in = append(c.in, in)
			c.out = append(c.out, out)
		}
		c.in[i] = max(c.in[i], in)
		c.out[i] = min(c.out[i], out)
		if c.in[i] > c.out[i] && phase < 0 {
			phase = i
		}
	}
	return phase
}
