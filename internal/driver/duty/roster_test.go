package duty

import (
	"fmt"
	"hash/maphash"
	"slices"
	"strings"
	"testing"
	"time"

	"weft/internal/monotime"
)

// dismisses reports whether Close still waits for a goroutine that sleeps on the doorbell.
func (w *world) dismisses() bool { return w.closed && w.r.Sleeper() != nil }

// quiet reports whether no goroutine of the node can go on before something happens.
func (w *world) quiet() bool {
	for i, at := range w.at {
		if at == running || at == falling || at == rising || at == parked && (w.token[i] || w.over[i]) {
			return false
		}
	}
	serves := w.service == running || w.service == falling || w.service == rising || w.service == parked && w.nudged
	return !serves && w.rings == 0 && !w.cancel && !w.dismisses()
}

// check says what is wrong with a world in which no goroutine can go on.
func (w *world) check() string {
	looks := w.service == parked && w.limit
	for i, at := range w.at {
		switch {
		case at == outside:
		case w.closed:
			return "the node is closed, and a waiter sleeps"
		case w.ended[i]:
			return "a call has ended, and its goroutine sleeps"
		case w.over[i]:
			return "a context has ended, and its goroutine sleeps"
		case w.packet[i] && !looks:
			return "a packet is there, and no goroutine on duty"
		}
		looks = looks || at == asleep && w.alarm[i]
	}
	switch {
	case w.closed && w.service != outside:
		return "the node is closed, and the service sleeps"
	case !w.closed && w.urgent && !(w.service == parked && w.limit):
		return "an urgent packet is there, and no goroutine on duty"
	case !w.closed && w.timer && !looks && !w.limit:
		return "a timer is due, and no goroutine on duty"
	}
	return ""
}

// ticks lets the service look twice, and says what is wrong if packets are still there.
func (w *world) ticks() string {
	for range 2 {
		if !w.closed && w.service == parked && w.quiet() {
			w.woken()
		}
	}
	if w.quiet() && w.arrived() && !w.closed {
		return "a packet stays, though the service looks"
	}
	return ""
}

// A step is how a world came about.
type step struct {
	from uint64
	name string
}

// explore tries all that may happen, one after the other in any order, and returns what goes wrong, or else how many
// different worlds there are.
func explore(start world, of kind) (worlds int, err error) {
	seed := maphash.MakeSeed()
	hash := func(w world) uint64 { return maphash.Comparable(seed, w.key()) }
	all := slices.DeleteFunc(moves(), func(m move) bool { return m.kind&^of != 0 })
	seen := map[uint64]step{}
	first := hash(start)
	seen[first] = step{}
	var w, after world // made once: a pointer to each is kept in it
	var next []world
	for level := []world{start}; len(level) > 0; level, next = next, level[:0] {
		for _, now := range level {
			from := hash(now)
			for _, m := range all {
				w = now
				w.r.poller = rebase(now.r.poller, &own, &w.w)
				w.r.sleeper = rebase(now.r.sleeper, &own, &w.w)
				if !m.can(&w) {
					continue
				}
				m.do(&w)
				wrong := w.wrong
				if wrong == "" && w.quiet() {
					wrong = w.check()
					if wrong == "" {
						after = w
						after.r.poller = rebase(w.r.poller, &w.w, &after.w)
						after.r.sleeper = rebase(w.r.sleeper, &w.w, &after.w)
						wrong = after.ticks()
					}
				}
				if wrong != "" {
					path := []string{m.name}
					for at := from; at != first; at = seen[at].from {
						path = append(path, seen[at].name)
					}
					slices.Reverse(path)
					return len(seen), fmt.Errorf("%s, after:\n\t%s", wrong, strings.Join(path, "\n\t"))
				}
				w.r.poller = rebase(w.r.poller, &w.w, &own)
				w.r.sleeper = rebase(w.r.sleeper, &w.w, &own)
				h := hash(w)
				if _, known := seen[h]; !known {
					seen[h] = step{from, m.name}
					next = append(next, w)
				}
			}
		}
	}
	return len(seen), nil
}

// A search is what happens in a world.
type search struct {
	name string
	of   kind
	one  bool // a ring of the doorbell wakes one goroutine
	Roster
}

// searches are what is explored.
var searches = []search{
	{name: "the service has work", of: urgent | timers | alerts | locks | notices | closes},
	{name: "the service has work, with a doorbell that wakes one", of: urgent | timers | alerts | notices, one: true},
	{
		name: "the service has work, and waiters sleep on channels", of: urgent | timers | locks | notices | closes,
		Roster: Roster{NoSleeping: true},
	},
	{
		name: "interrupts", of: urgent | timers | alerts | notices | contexts | closes | third,
		Roster: Roster{NoPolling: true, NoSleeping: true},
	},
	{name: "contexts", of: contexts | closes},
	{name: "contexts, on a doorbell that wakes one", of: contexts, one: true},
	{name: "three waiters", of: third},
	{name: "three, on a doorbell that wakes one", of: third, one: true},
	{name: "three, on channels", of: third | alerts, Roster: Roster{NoSleeping: true}},
	{name: "three, on channels, and urgent packets", of: third | urgent, Roster: Roster{NoSleeping: true}},
}

func (s search) run() (worlds int, err error) {
	w := world{r: s.Roster, one: s.one, service: running}
	w.r.Enough = 1
	w.w[0].MakesWay = true
	return explore(w, s.of)
}

// TestGoroutineIsOnDuty: whenever a packet is there, a timer is due or a call has ended, a goroutine polls, has been
// woken, or sleeps where it will be woken; and Close wakes all.
func TestGoroutineIsOnDuty(t *testing.T) {
	for _, s := range searches {
		t.Run(s.name, func(t *testing.T) {
			n, err := s.run()
			t.Logf("%d worlds", n)
			if err != nil {
				t.Error(err)
			}
		})
	}
}

// TestStreak: a streak counts waits that begin within a lull after the last one has ended, while a waiter is parked.
func TestStreak(t *testing.T) {
	r := Roster{Enough: 2}
	var w Waiter
	now := monotime.Time(0)
	wait := func(later time.Duration) {
		now = now.Add(later)
		r.Begin(&w, now)
		now = now.Add(10 * lull) // it polls for long
		r.Spent(&w)
		r.Left(now, false)
	}
	for wait(0); r.Streak(); {
		t.Fatal("a streak, though no waiter is parked")
	}
	r.Expect()
	wait(0) // from now on the ends count
	for i, c := range []struct {
		later time.Duration
		want  bool
	}{{lull, false}, {0, true}, {lull, true}, {lull + 1, false}, {lull, false}, {lull, true}} {
		if wait(c.later); r.Streak() != c.want {
			t.Errorf("wait %d: a streak %t, want %t", i, !c.want, c.want)
		}
	}
	r.Park(&w)
	if r.Streak() {
		t.Error("a waiter that parks does not end the streak")
	}
}

// TestStreakWakesNobody: the end of a wait in a streak wakes no goroutine and arms no doorbell, once the service
// watches.
func TestStreakWakesNobody(t *testing.T) {
	r := Roster{Enough: 2}
	var w Waiter
	r.Expect() // a goroutine wants to hear of packets
	for i := range 10 {
		a := r.Begin(&w, 0)
		if r.Service() == Running {
			next, _ := r.Next(false)
			a |= next
		}
		r.Spent(&w)
		a |= r.Left(0, false)
		if a&Nudge != 0 {
			r.Up()
		}
		if i > r.Enough && a != 0 {
			t.Errorf("wait %d: actions %b, want none", i, a)
		}
	}
}
