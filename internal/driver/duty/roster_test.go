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

// waiters is how many goroutines wait in a world. The first makes way for the others.
const waiters = 3

// A place is where a goroutine of the driver is while it does not have the lock.
type place uint8

const (
	outside place = iota // it does not wait; or it is the service, and has ended
	running              // it polls, or is the service: it takes the lock when it likes
	falling              // it is about to sleep on the doorbell
	asleep               // it sleeps there
	rising               // it comes from there
	parked               // it sleeps on its channel; or it is the service, and watches
)

// A world is a node as far as a Roster matters: a driver reduced to the order of its events. Its peers, its
// contexts and its timer do anything at any time.
type world struct {
	r Roster
	w [waiters]Waiter

	at     [waiters]place
	packet [waiters]bool // a packet is there that ends the call
	ended  [waiters]bool // the call has ended
	over   [waiters]bool // its context has
	token  [waiters]bool // its channel has a token
	alarm  [waiters]bool // it wakes in time for the timer
	cancel bool          // a context that has ended is about to ring

	service place
	nudged  bool
	limit   bool // it wakes by itself, soon enough for the timer
	expects bool // a notice is set

	bell   Action // which packets ring: Every, Urgent, or none
	state  Action // of the doorbell, on which the service sleeps
	one    bool   // a ring wakes one goroutine, and not all that sleep
	rings  int    // which have not woken one yet
	urgent bool   // a packet is there that needs this process's help
	timer  bool   // a timer runs
	closed bool

	wrong string
}

// own are the waiters to which a world's Roster points while it lies in the list of those that have been seen.
var own [waiters]Waiter

// rebase returns which of the waiters in new takes the place of one in old.
func rebase(w *Waiter, old, new *[waiters]Waiter) *Waiter {
	for i := range old {
		if w == &old[i] {
			return &new[i]
		}
	}
	return nil
}

// key returns a world without what makes no difference to what may happen in it.
func (w world) key() world {
	k := w
	k.r.polls = 2
	k.r.seen = 1
	if w.r.seen == w.r.polls {
		k.r.seen = 2
	}
	k.r.freed = 1
	if w.r.freed == w.r.polls {
		k.r.freed = 2
	}
	k.r.streak = min(w.r.streak, w.r.Enough)
	if w.r.sleeper == nil {
		k.r.sleeperAt = 0
	}
	if w.service != falling && w.service != asleep {
		k.state = 0
	}
	k.r.pause = min(w.r.pause, Tick)
	return k
}

// kind is a set of kinds of moves.
type kind uint8

const (
	urgent   kind = 1 << iota // packets that need this process's help
	timers                    // a timer
	locks                     // locks that are kept here
	alerts                    // the node needs the goroutine on duty
	notices                   // a party that is no waiter
	contexts                  // contexts end
	closes                    // the node is closed
	third                     // there is a third waiter
)

// A move is something that may happen in a world.
type move struct {
	kind kind
	name string
	can  func(w *world) bool
	do   func(w *world)
}

// do carries out an action, as the driver does.
func (w *world) do(a Action) {
	if a&^(Signal|Nudge) != 0 && w.closed && w.service == outside && w.r.Sleeper() == nil {
		w.wrong = "the doorbell is used, when that memory is gone"
	}
	if a&Ring != 0 {
		w.ring()
	}
	if a&Nudge != 0 {
		w.nudged = true
	}
	switch {
	case a&Silence != 0:
		w.bell = 0
	case a&Every != 0 && w.bell != Every:
		w.bell = Every
		w.receive()
	case a&Urgent != 0 && w.bell == 0:
		w.bell = Urgent
		if w.arrived() {
			w.do(w.r.Alert())
		}
	}
}

// ring rings the doorbell.
func (w *world) ring() {
	w.bell = 0
	if w.one {
		w.rings = min(w.rings+1, w.sleepers())
		return
	}
	for i, at := range w.at {
		if at == asleep {
			w.at[i] = rising
		}
	}
	if w.service == asleep {
		w.service = rising
	}
}

// sleepers returns how many goroutines sleep on the doorbell.
func (w *world) sleepers() (n int) {
	for _, at := range append(w.at[:waiters:waiters], w.service) {
		if at == asleep {
			n++
		}
	}
	return n
}

// arrives is what a peer does that has sent a packet.
func (w *world) arrives(urgent bool) {
	if w.bell == Every || w.bell == Urgent && urgent {
		w.ring()
	}
}

// arrived reports whether packets are there.
func (w *world) arrived() bool {
	return w.urgent || w.packet != [waiters]bool{}
}

// receive receives them, and reports whether there were any.
func (w *world) receive() (any bool) {
	if w.closed {
		return false
	}
	any = w.arrived()
	w.urgent = false
	for i := range w.packet {
		if w.packet[i] {
			w.packet[i] = false
			w.end(i)
		}
	}
	return any
}

// end ends a call.
func (w *world) end(i int) {
	w.ended[i] = true
	if a := w.r.Ended(&w.w[i]); a == Signal {
		w.token[i] = true
	} else {
		w.do(a)
	}
}

// pending reports whether a waiter must wait on.
func (w *world) pending(i int) bool { return !w.ended[i] && !w.closed }

// deadline is when the timer is due: soon. The time of a world is 0.
func (w *world) deadline() monotime.Time {
	if w.timer {
		return 1
	}
	return monotime.Never
}

// remind is Node.remind.
func (w *world) remind() {
	if !w.closed && w.r.Alarm() != 0 && w.r.Late(w.deadline(), 0) {
		w.do(w.r.Alert())
	}
}

// leave ends a wait.
func (w *world) leave(i int, a Action) {
	w.do(a)
	w.at[i] = outside
	w.packet[i] = false
	w.ended[i] = false
	w.over[i] = false
	w.token[i] = false
	w.alarm[i] = false
}

// polled goes on after a waiter has stopped polling before it ever slept.
func (w *world) polled(i int) {
	w.r.Spent(&w.w[i])
	if !w.pending(i) || w.over[i] {
		w.leave(i, w.r.Left(0, false))
		return
	}
	w.park(i)
}

// park is Node.park.
func (w *world) park(i int) {
	w.do(w.r.Park(&w.w[i]))
	switch w.w[i].State {
	case Sleeping:
		w.sleep(i)
	case Parked:
		w.at[i] = parked
	default:
		w.back(i)
	}
}

// back ends the wait of a goroutine that has slept on its channel.
func (w *world) back(i int) {
	w.r.Back(&w.w[i])
	w.leave(i, w.r.Rest(false))
}

// sleep is the loop of Node.sleep.
func (w *world) sleep(i int) {
	if w.pending(i) && !w.over[i] {
		w.do(w.r.Doze(&w.w[i]))
		switch {
		case w.w[i].State == Parked:
			w.at[i] = parked
			return
		case w.pending(i):
			w.r.Until(w.deadline())
			w.alarm[i] = w.timer
			w.at[i] = falling
			return
		}
	}
	w.r.Rise(&w.w[i])
	w.remind()
	w.leave(i, w.r.Rest(false))
}

// serve is what the service does until it gives the lock up.
func (w *world) serve() {
	if w.r.Alone() {
		w.receive()
	}
	a, d := w.r.Next(false)
	switch w.r.Service() {
	case Ended:
		w.service = outside
	case Dormant:
		if w.bell != a {
			w.bell = a
			if w.arrived() {
				w.do(w.r.Up())
				w.service = running
				return
			}
		}
		w.r.Until(w.deadline())
		w.state = a
		w.limit = w.timer
		w.service = falling
	default:
		w.do(a)
		if w.r.Sleeper() == nil {
			w.r.Until(w.deadline().Min(monotime.Time(0).Add(d)))
		}
		w.limit = d >= 0
		w.service = parked
	}
}

// woken is what the service does when it has the lock again.
func (w *world) woken() {
	w.limit = false
	w.nudged = false
	w.do(w.r.Up())
	w.serve()
}

// moves are all that may happen.
func moves() []move {
	all := []move{
		{urgent, "an urgent packet comes", func(w *world) bool { return !w.urgent && !w.closed }, func(w *world) {
			w.urgent = true
			w.arrives(true)
		}},
		{timers, "a timer is set", func(w *world) bool { return !w.timer && !w.closed }, func(w *world) {
			w.timer = true
			w.remind()
		}},
		{locks, "a lock is kept", func(w *world) bool { return !w.closed }, func(w *world) { w.do(w.r.Hurry()) }},
		{alerts, "the node alerts", func(w *world) bool { return !w.closed }, func(w *world) { w.do(w.r.Alert()) }},
		{notices, "a notice is set", func(w *world) bool { return !w.expects && !w.closed }, func(w *world) {
			w.expects = true
			w.r.Expect()
			w.do(w.r.Rest(false))
		}},
		{notices, "a notice is taken", func(w *world) bool { return w.expects }, func(w *world) {
			w.expects = false
			w.r.Forgo()
		}},
		{contexts, "a context rings", func(w *world) bool { return w.cancel }, func(w *world) {
			w.cancel = false
			w.do(w.r.Cancelled())
		}},
		{closes, "the node is closed", func(w *world) bool { return !w.closed }, func(w *world) {
			w.closed = true
			for i := range w.w {
				if w.at[i] != outside {
					w.do(w.r.Ended(&w.w[i]) &^ Signal)
					w.token[i] = w.token[i] || w.w[i].State == Woken
				}
			}
			w.do(w.r.Close())
		}},
		{0, "Close rings again", (*world).dismisses, (*world).ring},
		{0, "the service works", func(w *world) bool { return w.service == running }, (*world).serve},
		{0, "the service gives the lock up", func(w *world) bool { return w.service == running && w.r.Alone() }, func(w *world) {
			w.receive()
		}},
		{0, "the service falls asleep", func(w *world) bool { return w.service == falling }, func(w *world) {
			if w.service = asleep; w.bell != w.state {
				w.service = rising
			}
		}},
		{0, "a ring wakes the service", func(w *world) bool { return w.service == asleep && w.rings > 0 }, func(w *world) {
			w.rings--
			w.service = rising
		}},
		{0, "the service comes", func(w *world) bool { return w.service == rising || w.service == parked && w.nudged },
			(*world).woken},
		{0, "the service's time comes", func(w *world) bool { return (w.service == asleep || w.service == parked) && w.limit },
			func(w *world) {
				w.service = rising
				w.rings = min(w.rings, w.sleepers())
				w.timer = false
				w.woken()
			}},
	}
	for i := range waiters {
		for _, m := range ofWaiter(i) {
			m.name = fmt.Sprint("waiter ", i, m.name)
			if i == 2 {
				m.kind |= third
			}
			all = append(all, m)
		}
	}
	return all
}

// ofWaiter are the moves of a waiter and of its call.
func ofWaiter(i int) []move {
	is := func(p place) func(w *world) bool { return func(w *world) bool { return w.at[i] == p } }
	begin := func(now monotime.Time) func(w *world) {
		return func(w *world) {
			w.do(w.r.Begin(&w.w[i], now))
			if w.at[i] = running; w.w[i].State != Polling {
				w.park(i)
			}
		}
	}
	rise := func(lingers bool) func(w *world) {
		return func(w *world) {
			w.r.Woke()
			w.alarm[i] = false
			if w.r.Poller() == nil && w.receive() && w.pending(i) && lingers {
				w.at[i] = running
				w.do(w.r.Linger(&w.w[i]))
				return
			}
			w.sleep(i)
		}
	}
	stop := func(w *world) {
		if w.r.Sleeper() != &w.w[i] {
			w.polled(i)
			return
		}
		w.r.Spent(&w.w[i])
		w.sleep(i)
	}
	return []move{
		{0, " begins", func(w *world) bool { return w.at[i] == outside && !w.closed }, begin(0)},
		{0, " begins late", func(w *world) bool { return w.at[i] == outside && !w.closed && w.r.CountsStreak() }, begin(monotime.Time(lull) + 1)},
		{0, "'s packet comes", func(w *world) bool { return w.at[i] != outside && w.pending(i) && !w.packet[i] }, func(w *world) {
			w.packet[i] = true
			w.arrives(false)
		}},
		{contexts, "'s context ends", func(w *world) bool { return w.at[i] != outside && !w.over[i] }, func(w *world) {
			w.over[i] = true
			w.cancel = true
		}},
		{0, " looks", func(w *world) bool { return w.at[i] == running && w.w[i].Polls() }, func(w *world) {
			w.timer = false
			w.receive()
			if !w.pending(i) {
				stop(w)
			}
		}},
		{0, " stops polling", is(running), stop},
		{0, " falls asleep", is(falling), func(w *world) {
			if w.at[i] = asleep; w.bell != Every {
				w.at[i] = rising
			}
		}},
		{0, " is woken by a ring", func(w *world) bool { return w.at[i] == asleep && w.rings > 0 }, func(w *world) {
			w.rings--
			w.at[i] = rising
		}},
		{0, " wakes for the timer", func(w *world) bool { return w.at[i] == asleep && w.alarm[i] }, func(w *world) {
			w.at[i] = rising
			w.rings = min(w.rings, w.sleepers())
			w.timer = false
			rise(false)(w)
		}},
		{0, " rises", is(rising), rise(false)},
		{0, " rises to linger", is(rising), rise(true)},
		{0, " takes its token", func(w *world) bool { return w.at[i] == parked && w.token[i] }, func(w *world) {
			if w.token[i] = false; w.w[i].State != Parked {
				w.back(i)
			}
		}},
		{0, " gives up", func(w *world) bool { return w.at[i] == parked && w.over[i] }, func(w *world) { w.back(i) }},
	}
}

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
	next := []world{start}
	for len(next) > 0 {
		now := next[0]
		next = next[1:]
		from := hash(now)
		for _, m := range all {
			w := now
			w.r.poller = rebase(now.r.poller, &own, &w.w)
			w.r.sleeper = rebase(now.r.sleeper, &own, &w.w)
			if !m.can(&w) {
				continue
			}
			m.do(&w)
			wrong := w.wrong
			if wrong == "" && w.quiet() {
				wrong = w.check()
				if after := w; wrong == "" {
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
	{name: "streaks", of: urgent | timers | alerts | locks | closes, Roster: Roster{Costly: true}},
	{
		name: "streaks on channels", of: urgent | timers | locks | notices | closes,
		Roster: Roster{Costly: true, NoSleeping: true},
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
	{name: "three, on channels, in streaks", of: third | urgent, Roster: Roster{NoSleeping: true, Costly: true}},
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
	r := Roster{Costly: true, Enough: 2}
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
