package engine

import "weft/internal/mutant"

// The bugs that tests can plant in this package: see package mutant. In an ordinary build
// each function is a constant false, and costs nothing.

// ignoresBeats plants a bug: a peer that asks for a sign of life gets none.
func ignoresBeats() bool { return mutant.On(mutant.BeatUnanswered) }
