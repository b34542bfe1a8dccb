package sys

import (
	"os"

	"golang.org/x/sys/unix"
)

// Streams is a set of streams: it tells which of them have something to read,
// which have room again, and which the other side has ended.
type Streams struct {
	epoll, ends, stop int
	events            [64]unix.EpollEvent
	done              chan struct{}
}

// NewStreams returns an empty set. A goroutine of the set calls ended once for
// each stream that the other side has ended, and room when there is room in a
// stream for which AwaitRoom was called. Room calls watch once, with whether it
// wants to hear of more.
func NewStreams(ended func(fd int), room func(fd int, watch func(room bool))) (*Streams, error) {
	s := &Streams{epoll: -1, ends: -1, stop: -1, done: make(chan struct{})}
	var err error
	if s.epoll, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC); err == nil {
		s.ends, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	}
	if err == nil {
		s.stop, err = unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
	}
	if err == nil {
		err = unix.EpollCtl(s.ends, unix.EPOLL_CTL_ADD, s.stop, &unix.EpollEvent{Fd: int32(s.stop), Events: unix.EPOLLIN})
	}
	if err != nil {
		s.closeAll()
		return nil, os.NewSyscallError("epoll", err)
	}
	go s.watch(ended, room)
	return s, nil
}

// watch is the goroutine that hears, while nothing polls, which connections have ended and which have room again.
// It ends when the stop descriptor is written to.
func (s *Streams) watch(ended func(fd int), room func(fd int, watch func(room bool))) {
	defer close(s.done)
	var events [16]unix.EpollEvent
	for {
		n, err := unix.EpollWait(s.ends, events[:], -1)
		if err != nil && err != unix.EINTR {
			return
		}
		for _, e := range events[:max(n, 0)] {
			if int(e.Fd) == s.stop {
				return
			}
			if e.Events&(unix.EPOLLRDHUP|unix.EPOLLHUP|unix.EPOLLERR) != 0 {
				ended(int(e.Fd))
				continue
			}
			room(int(e.Fd), func(more bool) { _ = s.await(unix.EPOLL_CTL_MOD, int(e.Fd), more) })
		}
	}
}

// await watches for the end of a stream, and for room.
func (s *Streams) await(op, fd int, room bool) error {
	e := unix.EpollEvent{Fd: int32(fd), Events: unix.EPOLLRDHUP | unix.EPOLLONESHOT}
	if room {
		e.Events |= unix.EPOLLOUT
	}
	return unix.EpollCtl(s.ends, op, fd, &e)
}

// AwaitRoom makes the set tell when there is room in a stream.
func (s *Streams) AwaitRoom(t *Stream) { _ = s.await(unix.EPOLL_CTL_MOD, t.fd, true) }

// Add adds a stream.
func (s *Streams) Add(t *Stream) error {
	err := unix.EpollCtl(s.epoll, unix.EPOLL_CTL_ADD, t.fd, &unix.EpollEvent{Fd: int32(t.fd), Events: unix.EPOLLIN})
	if err == nil {
		err = s.await(unix.EPOLL_CTL_ADD, t.fd, false)
	}
	return os.NewSyscallError("epoll_ctl", err)
}

// Drop says that there is nothing more to read from a stream.
func (s *Streams) Drop(t *Stream) { _ = unix.EpollCtl(s.epoll, unix.EPOLL_CTL_DEL, t.fd, nil) }

// Ready calls f for the streams that have something to read.
func (s *Streams) Ready(f func(fd int)) {
	n, _ := unix.EpollWait(s.epoll, s.events[:], 0)
	for i := range max(n, 0) {
		f(int(s.events[i].Fd))
	}
}

// FD returns a descriptor that is readable when a stream is.
func (s *Streams) FD() int { return s.epoll }

// FD returns the stream's descriptor, by which Streams names it.
func (s *Stream) FD() int { return s.fd }

// Close ends the watch. It must not be called by the function that NewStreams
// was given.
func (s *Streams) Close() {
	one := [8]byte{1}
	_, _ = unix.Write(s.stop, one[:])
	<-s.done
	s.closeAll()
}

// closeAll closes the descriptors that are open.
func (s *Streams) closeAll() {
	for _, fd := range []int{s.epoll, s.ends, s.stop} {
		if fd >= 0 {
			unix.Close(fd)
		}
	}
}
