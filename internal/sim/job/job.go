package job

import (
	"io"
	"slices"
	"time"

	"weft/internal/sim"
	"weft/internal/sim/proc"
	"weft/internal/transport/pipe"
)

// Config configures a job.
type Config struct {
	Ranks    int
	PerHost  int // ranks that share a host; 0 and 1 mean that each rank has its own
	MTU      int // the longest packet in bytes
	Topology sim.Topology
	Loss     float64             // the share of packets that are lost
	Seed     uint64              // of all random choices
	Log      io.Writer           // gets a line for every packet that arrives; or nil
	Describe func([]byte) string // describes a packet for Log
}

// A Job is a job in the simulator. Only the goroutine whose turn it is may use it.
type Job struct {
	World *sim.World
	Net   *sim.Network
	Ranks []*Rank // in the order in which Add has made them

	cfg    Config
	turns  *proc.Turns
	hosts  []*host // if ranks share hosts
	fenced int     // how often ranks have come to the fence
	left   int     // ranks that have not ended
	late   int     // events after the last rank had ended
}

// A host is one that several ranks share.
type host struct {
	memory *pipe.Host
	mates  []*proc.Process
}

// New returns a job without ranks yet.
func New(cfg Config) *Job {
	j := &Job{cfg: cfg, World: sim.NewWorld(cfg.Seed), left: cfg.Ranks}
	j.World.Log = cfg.Log
	j.turns = proc.NewTurns(j.World)
	j.Net = sim.NewNetwork(j.World, cfg.Topology)
	j.Net.Faults.Loss = cfg.Loss
	j.Net.Describe = cfg.Describe
	if cfg.PerHost > 1 {
		j.Net.Near = j.near
	}
	return j
}

// Host returns the host of a rank, and how many ranks it has.
func (j *Job) Host(rank int) (host, mates int) {
	if j.cfg.PerHost < 2 {
		return rank, 1
	}
	host = rank / j.cfg.PerHost
	return host, min(j.cfg.PerHost, j.cfg.Ranks-host*j.cfg.PerHost)
}

// near reports whether ranks share a host.
func (j *Job) near(a, b int) bool { return a/j.cfg.PerHost == b/j.cfg.PerHost }

// WakeAll wakes the goroutines of all ranks: what they wait for may have happened.
func (j *Job) WakeAll() {
	for _, r := range j.Ranks {
		r.WakeAll()
	}
}

// Play plays events until all ranks have ended, or cannot end. From time to time it calls look.
// When no event is left, or all ranks have waited for each other for long, it calls stuck, which
// reports whether the job goes on.
func (j *Job) Play(look func(), stuck func() bool) {
	n := -1
	j.turns.Run(func() bool {
		n++
		if j.left == 0 {
			return j.goroutines() && j.World.Step(sim.Never)
		}
		now := n%4096 == 0
		if now {
			look()
		}
		// Links that watch their peers always have events. So the ranks are stuck if all of
		// them have waited for longer than any such event takes.
		if now && j.stuck() || !j.World.Step(sim.Never) {
			return stuck()
		}
		return true
	})
}

// lateTurns is how many events are simulated for goroutines that outlive their ranks' programs, so
// that they can end: each of their calls fails.
const lateTurns = 100_000

// goroutines reports whether goroutines are left, and lateTurns events have not passed.
func (j *Job) goroutines() bool {
	j.late++
	return j.late < lateTurns && slices.ContainsFunc(j.Ranks, func(r *Rank) bool { return !r.Process.Ended() })
}

// stuckAfter is the virtual time for which all ranks may wait for each other before that counts as
// a deadlock. Peers that are gone have been noticed long before.
const stuckAfter = 60 * time.Second

// stuck reports whether every rank has waited for another for a long time.
func (j *Job) stuck() bool {
	if j.World.Now() < j.turns.Ran().Add(stuckAfter) {
		return false
	}
	return !slices.ContainsFunc(j.Ranks, func(r *Rank) bool { return !r.Process.Ended() && !r.Waits() })
}
