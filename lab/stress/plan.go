package stress

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"weft/internal/sim"
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
	Network   network // of a simulated job
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
	text := fmt.Sprintf("round %d: rank %d: %s after %v", s.round, s.rank, s.how, s.after)
	if s.lasts > 0 {
		text += fmt.Sprintf(", for %v", s.lasts)
	}
	return text
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

	cut    = "cut"     // in the simulator: packets from and to it are lost, for less than the liveness
	cutOff = "cut off" // for longer: others take it for dead, and it them

	goHomeLast = "return after the round" // what an outcast does when it is back

	liveness = 3 * time.Second
)

// removes reports whether a strike takes the rank out of the job.
func (s strike) removes() bool { return s.how != stop && s.how != stopAll && s.how != cut }

// Draw makes the plan of a job of processes from its seed. A peaceful job has no strikes.
func Draw(seed uint64, n int, transport string, hosts int) Plan {
	rng := chance(seed, "plan")
	p := Plan{Seed: seed, N: n, Hosts: hosts, Transport: transport, Liveness: liveness, Rounds: 2 + rng.IntN(4)}
	p.Env = environment(rng)
	if rng.IntN(5) < 2 {
		p.Liveness = 20 * time.Second // so that nothing but a fault can make a rank look dead
		return p
	}
	p.draw(rng, 300*time.Millisecond, p.Liveness+time.Second, kill, kill, kill, crash, exit, leave, leave, goHome, stop, stop, stopAll, outcast)
	return p
}

// draw draws what happens to the ranks, in so much time from the beginning of each round on. A rank that has not been
// heard for the time unheard counts as dead.
func (p *Plan) draw(rng *rand.Rand, span, unheard time.Duration, hows ...string) {
	ranks := rng.Perm(p.N)
	most := min(p.N-1, 1+rng.IntN(3)) // one survives
	for round := range p.Rounds {
		for rng.IntN(3) < 2 && len(p.Strikes) < 6 {
			s := strike{round: round, after: time.Duration(rng.Int64N(int64(span)))}
			s.how = hows[rng.IntN(len(hows))]
			short := time.Duration(rng.Int64N(int64(p.Liveness) * 4 / 15))
			switch {
			case s.how == outcast, s.how == cutOff, s.how == stopAll && rng.IntN(2) == 0:
				s.lasts = unheard
			case !s.removes():
				s.lasts = short
			}
			s.rank = rng.IntN(p.N)
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
}

// A network is that of a simulated job: its shape, and what it does to packets.
type network struct {
	link    string
	mtu     int
	goBackN bool
	drift   []int64 // of the machines' clocks, in parts per million
	faults  sim.Faults
	clogs   []clog
}

// A clog is a path that holds packets back for a time, or, if most is not 0, loses longer ones.
type clog struct {
	from, to     int
	after, lasts time.Duration
	most         int // bytes
}

// DrawSimulated makes the plan of a simulated job from its seed. One in six has a network without faults.
func DrawSimulated(seed uint64) Plan {
	rng := chance(seed, "simulation")
	p := Plan{Seed: seed, N: 2 + rng.IntN(4), Hosts: 1, Transport: "sim", Liveness: time.Second, Rounds: 1 + rng.IntN(3)}
	switch rng.IntN(6) {
	case 0:
		p.Hosts = 2
	default:
		p.Hosts = p.N
	case 1: // one host
	}
	hows := []string{kill, kill, leave, leave, goHome, stop, stop, stopAll, outcast, cut, cut}
	if p.Hosts == p.N { // hosts are cut off from each other
		hows = append(hows, cutOff)
	}
	if rng.IntN(5) > 1 {
		p.draw(rng, 20*time.Millisecond, 3*p.Liveness, hows...)
	}
	some := func(p, most float64) float64 {
		if rng.Float64() < p {
			return rng.Float64() * most
		}
		return 0
	}
	net := network{link: []string{"10Gbps,1us", "1Gbps,20us", "0,10us", "100Gbps,200us"}[rng.IntN(4)]}
	net.mtu = []int{576, 1500, 1500, 9000}[rng.IntN(4)]
	net.goBackN = rng.IntN(4) == 0
	for range p.N {
		net.drift = append(net.drift, rng.Int64N(401)-200)
	}
	if rng.IntN(6) > 0 {
		net.faults = sim.Faults{
			Loss: some(0.6, 0.05), Duplicate: some(0.3, 0.1), Reorder: some(0.4, 0.3), Corrupt: some(0.3, 0.03),
			Replay: some(0.3, 0.05), Jitter: time.Duration([]int{10, 100, 1000, 20_000}[rng.IntN(4)]) * time.Microsecond,
		}
		for range rng.IntN(4) {
			c := clog{from: rng.IntN(p.N), to: rng.IntN(p.N), after: time.Duration(rng.Int64N(int64(60 * time.Millisecond))),
				lasts: time.Duration(rng.Int64N(int64(p.Liveness / 5)))}
			if net.mtu > narrowest && rng.IntN(2) == 0 {
				c.most = narrowest + rng.IntN(net.mtu-narrowest)
			}
			net.clogs = append(net.clogs, c)
		}
	}
	p.Network = net
	return p
}

// perHost returns how many ranks share a host, or 1.
func (p Plan) perHost() int { return (p.N + p.Hosts - 1) / p.Hosts }

// narrowest is the length of the packets that every path takes, in bytes.
const narrowest = 1232

// String says what happens in a job, a line for each thing.
func (p Plan) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "seed %d: %d ranks on %d hosts over %s, %d rounds, liveness %v", p.Seed, p.N, p.Hosts, p.Transport,
		p.Rounds, p.Liveness)
	for _, e := range p.Env {
		b.WriteString(", " + e)
	}
	if p.Transport == "sim" {
		fmt.Fprintf(&b, "\n  network: %s, packets of %d bytes, go back n: %v, clocks drift by %v, %+v", p.Network.link, p.Network.mtu,
			p.Network.goBackN, p.Network.drift, p.Network.faults)
	}
	for _, c := range p.Network.clogs {
		fmt.Fprintf(&b, "\n  after %v: from %d to %d is clogged for %v", c.after, c.from, c.to, c.lasts)
		if c.most > 0 {
			fmt.Fprintf(&b, " for packets of more than %d bytes", c.most)
		}
	}
	for _, s := range p.Strikes {
		fmt.Fprintf(&b, "\n  %v", s)
	}
	return b.String()
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
