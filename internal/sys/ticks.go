//go:build amd64 || arm64

package sys

// Ticks reads the processor's counter, which takes a few nanoseconds. What its units are,
// and whether it goes evenly, the processor does not say: see SteadyTicks.
func Ticks() int64
