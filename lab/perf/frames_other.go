//go:build !linux

package perf

import "errors"

// framesPossible reports whether this system has packet sockets.
const framesPossible = false

// openFrames fails: the packet sockets of other systems differ.
func openFrames(string, bool) (barePath, string, error) {
	return barePath{}, "", errors.ErrUnsupported
}
