package sys

import (
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	futexWaitBitset = 9
	futexWakeBitset = 10
)

// FutexWait sleeps until *word is woken with one of the bits, if it is still
// val, or until d has passed; a negative d means no limit. It may return early.
// The word may lie in memory shared with other processes.
func FutexWait(word *uint32, val uint32, d time.Duration, bits uint32) {
	var until *unix.Timespec
	if d >= 0 {
		var now unix.Timespec
		_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &now)
		ts := unix.NsecToTimespec(now.Nano() + int64(d))
		until = &ts
	}
	_, _, _ = unix.Syscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(word)), futexWaitBitset, uintptr(val),
		uintptr(unsafe.Pointer(until)), 0, uintptr(bits))
}

// FutexWake wakes all threads that sleep on the word with one of the bits.
func FutexWake(word *uint32, bits uint32) {
	_, _, _ = unix.RawSyscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(word)), futexWakeBitset, 1<<30, 0, 0, uintptr(bits))
}

// Yield gives the processor to another thread that is ready to run.
func Yield() { _, _, _ = unix.RawSyscall(unix.SYS_SCHED_YIELD, 0, 0, 0) }
