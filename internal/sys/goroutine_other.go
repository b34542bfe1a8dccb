//go:build !amd64 && !arm64

package sys

import (
	"bytes"
	"runtime"
	"strconv"
)

// Goroutine returns a number that no other goroutine has while the calling goroutine lives: the one that the runtime
// prints in stack traces.
func Goroutine() uintptr {
	var b [32]byte // "goroutine 123 [running]:…"
	number := bytes.Fields(b[:runtime.Stack(b[:], false)])[1]
	n, err := strconv.ParseUint(string(number), 10, 64)
	if err != nil {
		panic(err)
	}
	return uintptr(n)
}
