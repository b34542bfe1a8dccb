package stress

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"
)

// A Plan is everything about a job that its seed decides but for the scenes, which
// follow from the seed, too: see cast.
type Plan struct {
	Seed      uint64
	N         int
	Hosts     int
	Transport string
	Rounds    int
	Env       []string
	Liveness  time.Duration
	Strikes   []strike
}

// A strike is something that happens to a rank in a round.
type strike struct {
	round int
	rank  int
	how   string
	after time.Duration // the beginning of the round
	lasts time.Duration // of a stop
}

func (s strike) String() string {
	return fmt.Sprintf("round %d: rank %d: %s after %v", s.round, s.rank, s.how, s.after)
}

// What a rank can be struck by.
const (
	kill    = "kill"     // SIGKILL
	crash   = "crash"    // the process exits with a status, and leaves nothing in order
	exit    = "exit"     // the same with status 0
	leave   = "leave"    // Proc.Close while goroutines are inside
	goHome  = "return"   // the main function returns early
	stop    = "stop"     // SIGSTOP for less than the liveness: nobody may notice
	outcast = "outcast"  // SIGSTOP for longer: others may take it for dead
	stopAll = "stop all" // all ranks, as when a machine is suspended: nobody may notice

	goHomeLast = "return after the round" // what an outcast does when it is back

	liveness = 3 * time.Second
)

// removes reports whether a strike takes the rank out of the job.
func (s strike) removes() bool { return s.how != stop && s.how != stopAll }

// Draw makes the plan of a job from its seed. A peaceful job has no strikes.
func Draw(seed uint64, n int, transport string, hosts int) Plan {
	rng := chance(seed, "plan")
	p := Plan{Seed: seed, N: n, Hosts: hosts, Transport: transport, Liveness: liveness, Rounds: 2 + rng.IntN(4)}
	p.Env = environment(rng)
	if rng.IntN(5) < 2 {
		p.Liveness = 20 * time.Second // so that nothing but a fault can make a rank look dead
		return p
	}
	ranks := rng.Perm(n)
	most := min(n-1, 1+rng.IntN(3)) // one survives
	for round := range p.Rounds {
		for rng.IntN(3) < 2 && len(p.Strikes) < 6 {
			s := strike{round: round, after: time.Duration(rng.IntN(300_000)) * time.Microsecond}
			hows := []string{kill, kill, kill, crash, exit, leave, leave, goHome, stop, stop, stopAll, outcast}
			s.how = hows[rng.IntN(len(hows))]
			s.lasts = time.Duration(rng.IntN(800)) * time.Millisecond
			switch {
			case s.how == outcast:
				s.lasts = p.Liveness + time.Second
			case s.how == stopAll && rng.IntN(2) == 0:
				s.lasts = p.Liveness + time.Second
			}
			s.rank = rng.IntN(n)
			if s.removes() {
				if most == 0 {
					continue
				}
				most--
				s.rank, ranks = ranks[0], ranks[1:]
			}
			p.Strikes = append(p.Strikes, s)
		}
	}
	slices.SortStableFunc(p.Strikes, func(a, b strike) int {
		if a.round != b.round {
			return a.round - b.round
		}
		return int(a.after - b.after)
	})
	return p
}

// environment draws how the ranks wait and are scheduled, and what the network does.
func environment(rng *rand.Rand) (env []string) {
	pick := func(name string, values ...string) {
		if v := values[rng.IntN(len(values))]; v != "" {
			env = append(env, name+"="+v)
		}
	}
	pick("WEFT_SPIN", "", "", "0", "20us", "1ms")
	pick("GOMAXPROCS", "", "", "1", "2", "4")
	pick("GOGC", "", "", "20")
	pick("WEFT_FAULTS", "", "", "lose=0.02,repeat=0.02,reorder=0.1,damage=0.01")
	pick("WEFT_GO_BACK_N", "", "", "", "1")
	return env
}

// chance returns a source of chance for a seed and whatever it is to depend on.
func chance(seed uint64, what ...any) *rand.Rand {
	h := uint64(14695981039346656037)
	for _, b := range []byte(fmt.Sprint(what...)) {
		h = (h ^ uint64(b)) * 1099511628211
	}
	return rand.New(rand.NewPCG(seed, h))
}
