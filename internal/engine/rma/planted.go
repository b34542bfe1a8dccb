package rma

import "weft/internal/mutant"

// The bugs that tests can plant in this package: see package mutant. In an ordinary build
// each function is a constant false, and costs nothing.

// ignoresEpochs plants a bug: a guarded region takes writes under any epoch.
func ignoresEpochs() bool { return mutant.On(mutant.EpochUnchecked) }

// ignoresFences plants a bug: a region takes writes under epochs to which it was closed, if it has
// seen no later one.
func ignoresFences() bool { return mutant.On(mutant.FenceUnheard) }

// confirmsDeadPushes plants a bug: a PUSH whose target dies ends as if it were done.
func confirmsDeadPushes() bool { return mutant.On(mutant.DeadPush) }

// ignoresKeys plants a bug: keys are not checked.
func ignoresKeys() bool { return mutant.On(mutant.NoKey) }

// confirmsEarly plants a bug: a PUSH is confirmed at its first packet.
func confirmsEarly() bool { return mutant.On(mutant.PushEarly) }

// putsLate plants a bug: a PUT is executed when the next one comes.
func putsLate() bool { return mutant.On(mutant.LatePut) }

// writesStrayBytes plants a bug: a PUT writes one byte too many.
func writesStrayBytes() bool { return mutant.On(mutant.StrayByte) }

// addsTwice plants a bug: an addition is executed twice now and then.
func addsTwice() bool { return mutant.On(mutant.AtomicTwice) }

// leaksOutstanding plants a bug: a refused operation still counts as outstanding.
func leaksOutstanding() bool { return mutant.On(mutant.LeakOutstanding) }
