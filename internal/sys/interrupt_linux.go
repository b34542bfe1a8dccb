package sys

import (
	"os"

	"golang.org/x/sys/unix"
)

// An Interrupt calls a function when a descriptor becomes readable, once for
// each time that it is armed and each of its descriptors. Until then arrivals wake nobody, nor do they look
// for somebody to wake: the descriptor is watched only while it is armed. The Go
// poller would watch it always.
type Interrupt struct {
	fds         []int
	epoll, stop int
	done        chan struct{}
}

// NewInterrupt watches descriptors, unarmed.
func NewInterrupt(fire func(), fds ...int) (*Interrupt, error) {
	epoll, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return nil, os.NewSyscallError("epoll_create1", err)
	}
	stop, err := unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
	if err != nil {
		unix.Close(epoll)
		return nil, os.NewSyscallError("eventfd", err)
	}
	x := &Interrupt{fds: fds, epoll: epoll, stop: stop, done: make(chan struct{})}
	if err := unix.EpollCtl(epoll, unix.EPOLL_CTL_ADD, stop, &unix.EpollEvent{Fd: int32(stop), Events: unix.EPOLLIN}); err != nil {
		unix.Close(epoll)
		unix.Close(stop)
		return nil, os.NewSyscallError("epoll_ctl", err)
	}
	go x.wait(fire)
	return x, nil
}

func (x *Interrupt) wait(fire func()) {
	defer close(x.done)
	var events [4]unix.EpollEvent
	for {
		n, err := unix.EpollWait(x.epoll, events[:], -1)
		if err != nil && err != unix.EINTR {
			return
		}
		for i := range max(n, 0) {
			if int(events[i].Fd) == x.stop {
				return
			}
			// In this order: who arms after the call is not disarmed.
			_ = unix.EpollCtl(x.epoll, unix.EPOLL_CTL_DEL, int(events[i].Fd), nil)
			fire()
		}
	}
}

// Arm makes the next arrival call the function; so does one that waits
// already.
func (x *Interrupt) Arm() {
	for _, fd := range x.fds {
		e := unix.EpollEvent{Fd: int32(fd), Events: unix.EPOLLIN}
		_ = unix.EpollCtl(x.epoll, unix.EPOLL_CTL_ADD, fd, &e) // fails if it is armed already, and after Close
	}
}

// Close ends the watch.
func (x *Interrupt) Close() {
	one := [8]byte{1}
	_, _ = unix.Write(x.stop, one[:])
	<-x.done
	unix.Close(x.epoll)
	unix.Close(x.stop)
}
