package sys

import (
	"os"
	"sync"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A Waiter sleeps until descriptors become readable, or it is woken.
type Waiter struct {
	epoll, event int

	mu     sync.RWMutex // of closed: after Close the descriptors' numbers may be used for others
	closed bool
}

// NewWaiter returns a Waiter that watches nothing.
func NewWaiter() (*Waiter, error) {
	epoll, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return nil, os.NewSyscallError("epoll_create1", err)
	}
	event, err := unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
	if err == nil {
		err = unix.EpollCtl(epoll, unix.EPOLL_CTL_ADD, event, &unix.EpollEvent{Fd: int32(event), Events: unix.EPOLLIN})
	}
	if err != nil {
		unix.Close(epoll)
		return nil, os.NewSyscallError("eventfd", err)
	}
	return &Waiter{epoll: epoll, event: event}, nil
}

// Watch makes a sleeper wake up, once, when the descriptor is readable. What arrives at a
// descriptor that is not watched costs nothing.
func (w *Waiter) Watch(fd int) {
	w.mu.RLock()
	defer w.mu.RUnlock()
	if !w.closed {
		e := unix.EpollEvent{Fd: int32(fd), Events: unix.EPOLLIN}
		_ = unix.EpollCtl(w.epoll, unix.EPOLL_CTL_ADD, fd, &e) // fails if it is watched already
	}
}

// Forget ends the watch of a descriptor.
func (w *Waiter) Forget(fd int) {
	w.mu.RLock()
	defer w.mu.RUnlock()
	if !w.closed {
		_ = unix.EpollCtl(w.epoll, unix.EPOLL_CTL_DEL, fd, nil)
	}
}

// Wait sleeps until woken, or until d has passed; a d below zero means no limit.
// It reports whether it was woken.
func (w *Waiter) Wait(d time.Duration) (woken bool) {
	var events [4]unix.EpollEvent
	end := time.Now().Add(max(d, 0))
	n, err := w.wait(events[:], d)
	for err == unix.EINTR { // the runtime signals its threads
		if d >= 0 {
			d = max(time.Until(end), 0)
		}
		n, err = w.wait(events[:], d)
	}
	for _, e := range events[:n] {
		if int(e.Fd) == w.event {
			var count [8]byte
			_, _ = unix.Read(w.event, count[:])
		} else {
			w.Forget(int(e.Fd))
		}
	}
	return n > 0
}

// wait waits for events, at most d, or for ever if d is negative. It uses epoll_pwait2, which counts in ns; kernels
// before 5.11 do not have it, and count in ms.
func (w *Waiter) wait(events []unix.EpollEvent, d time.Duration) (n int, err error) {
	var limit *unix.Timespec
	if d >= 0 {
		t := unix.NsecToTimespec(int64(d))
		limit = &t
	}
	k, _, errno := unix.Syscall6(unix.SYS_EPOLL_PWAIT2, uintptr(w.epoll),
		uintptr(unsafe.Pointer(&events[0])), uintptr(len(events)), uintptr(unsafe.Pointer(limit)), 0, 0)
	switch errno {
	case 0:
		return int(k), nil
	case unix.ENOSYS:
	default:
		return 0, errno
	}
	ms := -1 // an old kernel knows milliseconds only
	if d >= 0 {
		ms = int(min((d+time.Millisecond-1)/time.Millisecond, 1<<30))
	}
	n, err = unix.EpollWait(w.epoll, events, ms)
	return max(n, 0), err
}

// Wake wakes a sleeper, or the next one.
func (w *Waiter) Wake() {
	w.mu.RLock()
	defer w.mu.RUnlock()
	if !w.closed {
		one := [8]byte{1}
		_, _ = unix.Write(w.event, one[:])
	}
}

// Close gives everything back. No goroutine may be in Wait.
func (w *Waiter) Close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.closed {
		w.closed = true
		unix.Close(w.epoll)
		unix.Close(w.event)
	}
}
