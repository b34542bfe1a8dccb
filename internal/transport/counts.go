package transport

import "weft/internal/counters"

// Steady is embedded by transports whose path to a peer never changes: packets keep one
// maximum length, there is nothing to tell of the path, and nothing is counted.
type Steady struct{}

// Resized returns nothing.
func (Steady) Resized() []int { return nil }

// Path returns nothing.
func (Steady) Path(peer int) string { return "" }

// Counts returns zeros.
func (Steady) Counts() counters.Local { return counters.Local{} }
