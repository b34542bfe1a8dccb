//go:build !amd64 || race

package mem

// strings is false: the runtime's copy is as good as any, or the race detector is to see it.
const strings = false

func moveLong(dst, src []byte) int { return copy(dst, src) }
