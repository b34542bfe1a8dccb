package sys

import (
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	futexWait = 0
	futexWake = 1
)

// FutexWait sleeps until *word is woken, if it is still val, or until d has passed; a negative d
// means no limit. It may return early. The word may lie in memory shared with other processes.
//
// FUTEX_WAIT takes a time from now on. FUTEX_WAIT_BITSET would take a moment of the monotonic clock,
// and to read that here is a system call more.
func FutexWait(word *uint32, val uint32, d time.Duration) {
	var limit *unix.Timespec
	if d >= 0 {
		ts := unix.NsecToTimespec(int64(d))
		limit = &ts
	}
	_, _, _ = unix.Syscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(word)), futexWait, uintptr(val),
		uintptr(unsafe.Pointer(limit)), 0, 0)
}

// FutexWake wakes all threads that sleep on the word.
func FutexWake(word *uint32) {
	_, _, _ = unix.RawSyscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(word)), futexWake, 1<<30, 0, 0, 0)
}

// Yield gives the processor to another thread that is ready to run.
func Yield() { _, _, _ = unix.RawSyscall(unix.SYS_SCHED_YIELD, 0, 0, 0) }
