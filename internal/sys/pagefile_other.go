//go:build !linux

package sys

import (
	"os"
	"time"
)

// MapFile returns ErrUnsupported.
func MapFile(f *os.File, n int) ([]byte, error) { return nil, ErrUnsupported }

// Extend returns ErrUnsupported.
func Extend(f *os.File, off, n int64) error { return ErrUnsupported }

// Hold returns ErrUnsupported.
func Hold(f *os.File) error { return ErrUnsupported }

// Seize reports false: it cannot be known.
func Seize(f *os.File) bool { return false }

// Held reports true: it cannot be known.
func Held(f *os.File) bool { return true }

// Owner returns false: it cannot be known.
func Owner(info os.FileInfo) (uid int, ok bool) { return 0, false }

// ProcessState reports false: it cannot be known.
func ProcessState(pid int) (state byte, used time.Duration, ok bool) { return 0, 0, false }
