package driver

import (
	"weft/internal/monotime"
	"weft/internal/mutant"
)

// The conditions below are those in which a bug can be planted, for the interleaving model to
// find (model_test.go, package mutant). Without the build tag "mutants" mutant.On is a
// constant false, and nothing is left of it.

// stopped reports whether the transports must not be looked at any more: the node is closed,
// and their memory may be gone.
func (n *Node) stopped() bool {
	return n.life.closed && !mutant.On(mutant.UsedAfterClose)
}

// restAfterPolling is rest for a goroutine whose wait has ended while it polled, unless it is one of a streak.
func (n *Node) restAfterPolling() {
	if !mutant.On(mutant.NoRest) && !n.leavesDoorbell() {
		n.rest()
	}
}

// wakingKeepsDoorbell reports whether a goroutine has been woken that has not taken the lock
// yet, so that the doorbell must not be armed in its place.
func (n *Node) wakingKeepsDoorbell() bool {
	return n.waiting.waking > 0 && !mutant.On(mutant.ArmedOverRing)
}

// watches reports whether the service looks by itself whether a goroutine has polled.
func (n *Node) watches() bool {
	return n.service.watching && n.service.lookAt != monotime.Never || mutant.On(mutant.DutyUnwatched)
}

// dutyIsVacant reports whether the service has left its work, for good, to a sleeper that is
// gone.
func (n *Node) dutyIsVacant() bool {
	return n.service.watching && n.service.lookAt == monotime.Never && n.waiting.sleeper == nil &&
		!mutant.On(mutant.DutyForgotten)
}
