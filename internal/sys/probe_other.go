//go:build !linux

package sys

import (
	"os"
	"runtime"
)

// Unlimited is a limit that is none.
const Unlimited = ^uint64(0)

// Limits are the most that this process, or its user, may have.
type Limits struct{ Files, Processes uint64 }

// ReadLimits returns that nothing is limited: it is not known here.
func ReadLimits() Limits { return Limits{Unlimited, Unlimited} }

// MayOpenPackets returns false: there is no raw Ethernet here.
func MayOpenPackets() bool { return false }

// Kernel returns the name of the system.
func Kernel() (release, machine string) { return runtime.GOOS, runtime.GOARCH }

// TerminalLines returns ErrUnsupported.
func TerminalLines(*os.File) (int, error) { return 0, ErrUnsupported }

// Features returns nothing: between processes weft needs Linux.
func Features() []Feature { return nil }

// Buffers returns ErrUnsupported.
func Buffers(int) (receive, send int, err error) { return 0, 0, ErrUnsupported }

// Mbps returns 0: it is not known here.
func Mbps(string) int { return 0 }
