//go:build !race

package mem

// storeRelease publishes everything written before, and v. On this processor
// stores become visible in the order of the program, and those of an aligned
// word in one piece, so a plain one will do; atomic.Store would also wait until
// it is visible.
func storeRelease(p *uint64, v uint64) { *p = v }
