package mailbox

import "weft/internal/mutant"

// The bugs that tests can plant in this package: see package mutant. In an ordinary build
// each function is a constant false, and costs nothing.

// movesHeadEarly plants a bug: Head moves over messages that have not been released.
func movesHeadEarly() bool { return mutant.On(mutant.HeadOver) }

// movesTailEarly plants a bug: Tail is moved before it is known whether there is room.
func movesTailEarly() bool { return mutant.On(mutant.TailEarly) }

// mistakesFullForEmpty plants a bug: pointers are compared as they lie in the ring, so a full one
// looks empty.
func mistakesFullForEmpty() bool { return mutant.On(mutant.WrappedFull) }

// writesStatusEarly plants a bug: the record of a message is written before its bytes.
func writesStatusEarly() bool { return mutant.On(mutant.StatusEarly) }
