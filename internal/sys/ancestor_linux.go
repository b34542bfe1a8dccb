package sys

import (
	"bytes"
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
		name, parent, err := nameAndParent(pid)
		if err != nil {
			return nil, err
		}
		if strings.HasPrefix(name, word) {
			fd, err := unix.PidfdOpen(pid, unix.PIDFD_NONBLOCK)
			if err != nil {
				return nil, os.NewSyscallError("pidfd_open", err)
			}
			return &Ancestor{os.NewFile(uintptr(fd), name)}, nil
		}
		pid = parent
	}
	return nil, fmt.Errorf("weft: no ancestor of this process is called %s", word)
}

// nameAndParent returns the name of a process, of which the kernel keeps 15 bytes, and the number of its parent.
func nameAndParent(pid int) (name string, parent int, err error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return "", 0, err
	}
	_, text, _ = bytes.Cut(text, []byte("("))
	end := max(bytes.LastIndexByte(text, ')'), 0) // the name may have parentheses
	state := strings.Fields(string(text[end:]))   // ")", the state, the parent
	if len(state) < 3 {
		return "", 0, fmt.Errorf("weft: /proc/%d/stat has no parent", pid)
	}
	parent, err = strconv.Atoi(state[2])
	return string(text[:end]), parent, err
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
