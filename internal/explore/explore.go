// Package explore says how much a test tries of what it chooses from: seeds, networks, rounds. By itself a test tries
// the same few each time, so that its verdict is the same each time. With WEFT_EXPLORE=1, 2, 3 … it tries others, and
// more: each number is another round. A test that fails in a round fails again with the number of this round.
package explore

import (
	"os"
	"strconv"
)

// Round returns the number of the round: 0 unless WEFT_EXPLORE asks for another one.
func Round() uint64 {
	n, _ := strconv.ParseUint(os.Getenv("WEFT_EXPLORE"), 10, 32)
	return n
}

// Seeds returns the first of n seeds of this round, and the one after the last. No two rounds have a seed in common.
func Seeds(n uint64) (first, end uint64) {
	first = Round() * n
	return first, first + n
}

// Choose returns usual, or in a round of exploration more.
func Choose[T any](usual, more T) T {
	if Round() == 0 {
		return usual
	}
	return more
}
