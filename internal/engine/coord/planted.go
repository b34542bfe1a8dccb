package coord

import "weft/internal/mutant"

// The bugs that tests can plant in this package: see package mutant. In an ordinary build
// each function is a constant false, and costs nothing.

// forgetsToken plants a bug: a rank that releases a lock forgets that it has the token.
func forgetsToken() bool { return mutant.On(mutant.NoLastState) }

// opensEarly plants a bug: a gate opens one input too early.
func opensEarly(missing int32, g *Gate) bool {
	return mutant.On(mutant.GateEarly) && missing == 1 && g.Inputs > 2
}

// countsLate plants a bug: a barrier counts anew only when the program arrives again.
func countsLate() bool { return mutant.On(mutant.LateReset) }

// mixesPhases plants a bug: the inputs of all phases are counted together.
func mixesPhases() bool { return mutant.On(mutant.NoParity) || countsLate() }

// waitsForDead plants a bug: a home waits for the fence of a rank that is gone.
func waitsForDead() bool { return mutant.On(mutant.FenceOnce) }

// keepsGranted plants a bug: permits that have been granted can be granted again.
func keepsGranted() bool { return mutant.On(mutant.GrantTwice) }

// hidesDeaths plants a bug: the next holder is not told that the last one died.
func hidesDeaths() bool { return mutant.On(mutant.Untold) }

// forgetsSuccessor plants a bug: a successor that comes before the token is forgotten.
func forgetsSuccessor() bool { return mutant.On(mutant.ForwardIgnored) }

// takesVoidTokens plants a bug: a token from before a repair is taken.
func takesVoidTokens() bool { return mutant.On(mutant.VoidToken) }
