package link

import "weft/internal/mutant"

// The bugs that tests can plant in this package: see package mutant. In an ordinary build
// each function is a constant false, and costs nothing.

// neverProbesStopped plants a bug: a stopped sender never asks whether it may go.
func neverProbesStopped() bool { return mutant.On(mutant.NoPersistProbe) }

// takesOldIncarnations plants a bug: packets of earlier incarnations are accepted.
func takesOldIncarnations() bool { return mutant.On(mutant.OldIncarnation) }

// takesOnePart plants a bug: a packet that comes in parts is accepted when the first part has come.
func takesOnePart() bool { return mutant.On(mutant.PartMissing) }

// deliversKeptEarly plants a bug: a packet that was kept is delivered before one that is missing.
func deliversKeptEarly() bool { return mutant.On(mutant.KeptEarly) }

// forgetsToAckAgain plants a bug: a repeated packet is not acknowledged again.
func forgetsToAckAgain() bool { return mutant.On(mutant.NoReAck) }

// acceptsGaps plants a bug: a packet after a lost one is accepted.
func acceptsGaps() bool { return mutant.On(mutant.AcceptGap) }

// staysSmall plants a bug: a congestion window that has become small stays so.
func staysSmall() bool { return mutant.On(mutant.WindowShut) }

// ignoresLosses plants a bug: losses and timeouts leave the congestion window as it is.
func ignoresLosses() bool { return mutant.On(mutant.LossIgnored) }

// overtakesBulk plants a bug: a message goes ahead of what is left of a PUSH that was begun before
// it.
func overtakesBulk() bool { return mutant.On(mutant.BulkOvertaken) }

// neverAsks plants a bug: a silent peer is not asked whether it lives.
func neverAsks() bool { return mutant.On(mutant.NoProbe) }
