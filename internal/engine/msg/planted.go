package msg

import "weft/internal/mutant"

// The bugs that tests can plant in this package: see package mutant. In an ordinary build
// each function is a constant false, and costs nothing.

// trustsOneFence plants a bug: a port counts as flushed when the first of its fences has been
// answered.
func trustsOneFence() bool { return mutant.On(mutant.FenceIgnored) }

// releasesTwice plants a bug: the room of a released message is counted twice.
func releasesTwice() bool { return mutant.On(mutant.CreditTwice) }

// takesHalves plants a bug: a message is handed on when half of it has arrived.
func takesHalves() bool { return mutant.On(mutant.HalfMessage) }

// asksOwnReceiverOnly plants a bug: a send that waits for room asks its own receiver only, not all
// that hold some.
func asksOwnReceiverOnly() bool { return mutant.On(mutant.AskOne) }

// resendsWhileFrozen plants a bug: a frozen port sends again what it is asked for, behind its
// fence.
func resendsWhileFrozen() bool { return mutant.On(mutant.FenceOvertaken) }

// resendsHeld plants a bug: what was held is sent with what is resent, and again.
func resendsHeld() bool { return mutant.On(mutant.HeldSentTwice) }

// acksSilently plants a bug: the answer to a request for an acknowledgement wakes no rank.
func acksSilently() bool { return mutant.On(mutant.SilentAck) }

// servesNewcomers plants a bug: a newcomer takes the room for which refused senders wait.
func servesNewcomers() bool { return mutant.On(mutant.NewcomersFirst) }

// servesLastFirst plants a bug: of the senders that were refused the last is told to come first.
func servesLastFirst() bool { return mutant.On(mutant.LastFirst) }

// forgetsFirstRestored plants a bug: of the messages that a restored state has not seen
// acknowledged, the first is not sent again.
func forgetsFirstRestored() bool { return mutant.On(mutant.RestoredShort) }

// keepsPromisesToDead plants a bug: the room that was promised to a rank stays promised when it
// dies.
func keepsPromisesToDead() bool { return mutant.On(mutant.PromiseKept) }
