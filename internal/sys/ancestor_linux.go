package sys

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// An Ancestor is a process from which this one descends.
type Ancestor struct{ pidfd *os.File }

// FindAncestor returns the nearest ancestor of this process whose name begins with a word, or an error if there is
// none that this process can see.
func FindAncestor(word string) (*Ancestor, error) {
	pid := os.Getppid()
	for pid > 1 {
		s, err := readStat(pid, 2)
		if err != nil {
			return nil, err
		}
		if strings.HasPrefix(s.name, word) {
			fd, err := unix.PidfdOpen(pid, unix.PIDFD_NONBLOCK)
			if err != nil {
				return nil, os.NewSyscallError("pidfd_open", err)
			}
			return &Ancestor{os.NewFile(uintptr(fd), s.name)}, nil
		}
		if pid, err = strconv.Atoi(s.fields[1]); err != nil {
			return nil, err
		}
	}
	return nil, fmt.Errorf("weft: no ancestor of this process is called %s", word)
}

// AwaitEnd waits until the ancestor has ended. If Close is called first it returns an error.
func (a *Ancestor) AwaitEnd() error {
	c, err := a.pidfd.SyscallConn()
	if err != nil {
		return err
	}
	return c.Read(func(fd uintptr) (ended bool) {
		p := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
		n, err := unix.Poll(p, 0)
		return err == nil && n > 0
	})
}

// Close makes AwaitEnd return.
func (a *Ancestor) Close() error { return a.pidfd.Close() }
