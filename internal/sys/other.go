//go:build !linux

package sys

import (
	"net"
	"runtime"
	"time"
)

// FutexWait returns when d has passed, at most a millisecond: there is no
// futex here, so waiting means polling.
func FutexWait(word *uint32, val uint32, d time.Duration) {
	if d < 0 || d > time.Millisecond {
		d = time.Millisecond
	}
	time.Sleep(d)
}

// FutexWake does nothing; see FutexWait.
func FutexWake(word *uint32) {}

// Yield gives the processor to another goroutine.
func Yield() { runtime.Gosched() }

// CPUs returns how many processors this process may use.
func CPUs() float64 { return float64(runtime.NumCPU()) }

// CPUsWith returns CPUs.
func CPUsWith(int) float64 { return CPUs() }

// Memory returns more than a host has: it cannot be known.
func Memory() uint64 { return 1 << 62 }

// InNetwork returns ErrUnsupported.
func InNetwork(path string, f func() error) error { return ErrUnsupported }

// Stopped reports whether a process of this host is stopped.
func Stopped(int) bool { return true }

// Alive reports whether a process of this host may still run.
func Alive(int) bool { return true }

// AwaitExit needs Linux.
func AwaitExit(int) error { return ErrUnsupported }

// StoppedOrGone reports true: it cannot be known.
func StoppedOrGone(int) bool { return true }

// Exiting reports false: it cannot be known.
func Exiting(int) bool { return false }

// An Ancestor is a process from which this one descends.
type Ancestor struct{}

// FindAncestor returns ErrUnsupported.
func FindAncestor(string) (*Ancestor, error) { return nil, ErrUnsupported }

// AwaitEnd returns ErrUnsupported.
func (*Ancestor) AwaitEnd() error { return ErrUnsupported }

// Close does nothing.
func (*Ancestor) Close() error { return nil }

// OnCPUs returns ErrUnsupported.
func OnCPUs(cpus []int, f func() error) error { return ErrUnsupported }

// Affinity returns nothing: it cannot be known.
func Affinity() []int { return nil }

// Cores returns nothing: they cannot be known.
func Cores() [][]int { return nil }

// GiveUpAfter returns ErrUnsupported.
func GiveUpAfter(c *net.TCPConn, silence time.Duration) error { return ErrUnsupported }

// CongestionControl returns ErrUnsupported.
func CongestionControl(c *net.TCPConn, name string) error { return ErrUnsupported }

// Identify returns nothing: it cannot be known.
func Identify() Identity { return Identity{} }
