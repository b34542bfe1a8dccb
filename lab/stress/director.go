package stress

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"time"
)

// A director begins the rounds of a job, strikes its ranks, and judges what they tell.
type director struct {
	plan    Plan
	stage   stage
	verbose bool
	ranks   []*player
	round   int
	ended   bool
	stuck   bool // and the job is being explained and ended

	suspended bool          // all ranks are stopped
	resumed   time.Duration // when all ranks were continued

	meets     map[string]meeting // by place
	met       map[string]bool    // places at which all ranks have arrived
	clocks    map[string]*clocking
	countings map[uint64]*counting  // by the number of the scene
	histories map[uint64][]*history // likewise
	moved     time.Duration         // when a rank last made progress
	broken    []string              // findings
	states    string
}

// A stage is where a job is played: by processes, or in the simulator. It calls the director from one goroutine at a
// time.
type stage interface {
	now() time.Duration // since the job began
	after(d time.Duration, f func())
	kill(rank int)
	stop(rank int, d time.Duration) // for d, or until resume
	resume(rank int)
	cut(rank int, d time.Duration) // off from all others
	bury(rank int)                 // tells all that count it as dead, and it that they are

	// excuses reports whether a rank has a reason to take another for dead to which the director has done nothing.
	excuses(rank, dead int) bool
}

// A meeting is the ranks that have arrived at a place, and those that are to come.
type meeting struct{ arrived, members []int }

// A player is the director's state of a rank.
type player struct {
	tell     func(n note) // nil until it has come
	pid      int
	progress uint64
	done     int           // the last round that it has finished, -1 at first
	struck   bool          // it may be dead, for whatever reason
	stopped  bool          // a signal has stopped it
	outcast  bool          // it stays stopped until the other ranks must have taken it for dead
	bye, out bool          // it has said that it leaves; its connection has ended
	beat     time.Duration // when it last told something
	silence  time.Duration // the longest between two notes
}

// newDirector returns the director of a job whose ranks have not come yet.
func newDirector(plan Plan, s stage, verbose bool) *director {
	d := &director{plan: plan, stage: s, verbose: verbose, round: -1, meets: map[string]meeting{}, met: map[string]bool{},
		clocks: map[string]*clocking{}, countings: map[uint64]*counting{}, histories: map[uint64][]*history{}}
	for range plan.N {
		d.ranks = append(d.ranks, &player{done: -1})
	}
	return d
}

// goOn begins the next round if this one has ended.
func (d *director) goOn() {
	if !d.idle() {
		return
	}
	d.round++
	d.begin()
	for _, s := range d.plan.Strikes {
		if s.round == d.round {
			d.stage.after(s.after, func() {
				if d.round == s.round { // else the round is over
					d.strike(s)
					d.goOn() // this rank may have been the last
				}
			})
		}
	}
}

// fail notes a failure, each once, and at most 50 of them.
func (d *director) fail(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if !slices.Contains(d.broken, text) && len(d.broken) < 50 {
		d.broken = append(d.broken, text)
	}
	if d.verbose {
		fmt.Fprintln(os.Stderr, "stress:", text)
	}
}

// all tells a note to every rank that has come and is still there.
func (d *director) all(n note) {
	for _, p := range d.ranks {
		if p.tell != nil && !p.out {
			p.tell(n)
		}
	}
}

// meet lets the ranks at a meeting place go on when all that have not been struck have arrived.
func (d *director) meet(place string) {
	m := d.meets[place]
	for _, rank := range m.members {
		if !d.ranks[rank].struck && !slices.Contains(m.arrived, rank) {
			return
		}
	}
	for _, rank := range m.arrived {
		if p := d.ranks[rank]; !p.out {
			p.tell(note{Kind: noteMet, Text: place})
		}
	}
	d.met[place] = true
	delete(d.meets, place)
}

// excused checks all meeting places again, after a rank was struck.
func (d *director) excused() {
	for _, place := range slices.Sorted(maps.Keys(d.meets)) {
		d.meet(place)
	}
}

// idle reports whether all ranks that are left have come and finished the round.
func (d *director) idle() bool {
	for _, p := range d.ranks {
		if p.tell == nil || !p.struck && p.done != d.round {
			return false
		}
	}
	return true
}

// begin begins a round, or ends the job.
func (d *director) begin() {
	var left []int
	for i, p := range d.ranks {
		if !p.struck {
			left = append(left, i)
		}
	}
	n := note{Kind: noteRound, N: uint64(d.round), Ranks: left}
	if slices.ContainsFunc(d.plan.Strikes, func(s strike) bool { return s.how == outcast || s.how == cutOff }) {
		n.Text = newChannels // a rank that was stopped may still send to the old channels
	}
	if d.round >= d.plan.Rounds {
		if d.ended {
			return
		}
		d.ended = true
		n = note{Kind: noteEnd}
		for _, p := range d.ranks {
			p.struck = true // from now on each may leave
		}
	}
	for _, i := range left {
		d.ranks[i].tell(n)
	}
}
