//go:build !linux

package sys

import (
	"os"
	"strconv"
	"time"
)

// SteadyTicks reports whether the kernel itself tells the time by what Ticks reads.
func SteadyTicks() bool { return false }

// started is when this process began, as far as Monotonic is concerned: where the clock has no common zero, each
// process has its own.
var started = time.Now()

// Monotonic returns the nanoseconds since this process has begun.
func Monotonic() int64 { return int64(time.Since(started)) }

// ClockDomain names what processes have in common whose Monotonic is the same: nothing.
func ClockDomain() string {
	host, _ := os.Hostname()
	return host + " " + strconv.Itoa(os.Getpid())
}
