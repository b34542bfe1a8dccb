package perf

func flushLine(p *byte)
func fence()

// flushCache throws the lines of b out of all caches, to measure what reading them
// from memory costs.
func flushCache(b []byte) {
	for i := 0; i < len(b); i += 64 {
		flushLine(&b[i])
	}
	if len(b) > 0 {
		flushLine(&b[len(b)-1])
	}
	fence()
}
