//go:build amd64 || arm64

package sys

// Pause tells the processor that this is a polling loop.
func Pause()
