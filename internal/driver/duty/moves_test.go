package duty

import (
	"fmt"

	"weft/internal/monotime"
)

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
		{0, "the service gives the lock up", func(w *world) bool {
			return w.service == running && w.r.Alone()
		}, func(w *world) {
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
		{0, "the service's time comes", func(w *world) bool {
			return (w.service == asleep || w.service == parked) && w.limit
		},
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
		{0, " glances", func(w *world) bool { return w.at[i] == outside && !w.closed }, func(w *world) { w.r.Glance() }},
		{0, " begins late", func(w *world) bool {
			return w.at[i] == outside && !w.closed && w.r.CountsStreak()
		}, begin(monotime.Time(lull) + 1)},
		{0, "'s packet comes", func(w *world) bool {
			return w.at[i] != outside && w.pending(i) && !w.packet[i]
		}, func(w *world) {
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
