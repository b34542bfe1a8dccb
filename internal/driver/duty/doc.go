// Package duty decides which goroutine of a node is on duty: which one looks for packets and timers next.
//
// A Roster is one state machine, without lock, clock or goroutine. The driver tells it what happens: each
// event is a method, called under the node's lock. The driver carries out the Action that the event
// returns before it gives the lock back. Always one of these goroutines is on duty, the first of them
// that there is:
//
//	on duty                                          the doorbell
//	the waiter that polls                            need not ring
//	one that has been woken, and will take the lock  stays silent: a ring could be lost on it
//	the waiter that sleeps on the doorbell           rings for every packet
//	the service                                      rings for every packet if waiters sleep, else for urgent ones
//
// A goroutine that stops polling, or comes back from sleep, ends its wait with Rest or Left, which see to that.
// A goroutine that looks only while it has the lock need not be a Waiter, if none of these would change: Glance.
//
// A Waiter is a goroutine that waits for a call, or polls memory:
//
//	state      the goroutine
//	Away       does not wait, or has the lock and decides how
//	Polling    polls the transports and runs the engine
//	Sleeping   sleeps on the doorbell, is about to, or was: a packet wakes the thread that needs it
//	Lingering  polls for a while after the doorbell has woken it
//	Parked     sleeps on a channel: another goroutine runs the engine
//	Woken      has been woken from its channel, and has not taken the lock yet
//
//	from       event                                         to         action
//	Away       Begin: no other polls, or one that makes way  Polling    Silence
//	Polling    Spent, or Begin of one for which it makes way Away
//	Away       Park: no other polls or sleeps so             Sleeping
//	Away       Park: another one does                        Parked     as Rest
//	Sleeping   Doze: no other polls                          Sleeping   Every
//	Sleeping   Doze: another one polls                       Parked     as Alert
//	Sleeping   Linger                                        Lingering  Silence
//	Sleeping   Rise                                          Away
//	Sleeping   Ended, Cancelled                              Sleeping   Ring
//	Lingering  Spent, or Begin of one for which it makes way Sleeping
//	Parked     Ended                                         Woken      Signal
//	Parked     Back: its context has ended                   Away
//	Woken      Back                                          Away
//
// The service is the goroutine that does the work when no waiter does:
//
//	state     the service
//	Running   has the lock: it receives, sends and decides what comes next
//	Watching  waits for a nudge, or for a while, and has left the work to others
//	Standby   waits for a nudge, and has left the work to the waiter that sleeps on the doorbell
//	Dormant   sleeps on the doorbell
//	Ended     does not run any more
//
//	from     event                                                    to        action
//	Running  Next: a waiter polls, or has since the last Next         Watching  Silence
//	Running  Next: a waiter sleeps on the doorbell                    Standby
//	Running  Next: otherwise                                          Dormant   Every, or Urgent if no waiter sleeps
//	Running  Next: the node is closed                                 Ended
//	others   Up                                                       Running
//
// The doorbell is silent, armed (a packet rings it, and so makes it silent) or rung: the node itself has rung it,
// and the goroutine that sleeps there has not taken the lock yet.
//
// A streak is a series of waits that end while they poll, as in a series of round trips, each within a lull after
// the one before. To arm the doorbell between two of them for the sake of parked waiters is in vain: the service must
// come to sleep on it, and the next packet wakes a thread. Both cost ten times as much as the packet does. So in a
// streak that is long enough the doorbell stays silent between two waits, if the service is Watching: it looks within
// a tick whether a waiter has polled since. If none has, it arms the doorbell, and the streak is over. So a packet for
// a parked waiter comes late by two ticks at most, and once in a streak. A waiter that parks ends the streak, too:
// what it waits for must wake it.
//
// Tested by roster_test.go in all sequences of events of three waiters and a service, and by the model tests of
// package driver, in interleavings of the driver's code.
package duty
