// Package sys holds the system calls that weft needs and the standard library
// does not have, each as a small function with Go types. On systems other than
// Linux those that have no equivalent return ErrUnsupported.
//
// Tested in memfd_linux_test.go (shared memory), socket_linux_test.go (descriptors that are
// passed, credentials), waiter_linux_test.go (futex, epoll), process_linux_test.go (children,
// processors, addresses, file locks), udp_linux_test.go (batches of datagrams), and with root
// in identity_linux_test.go (namespaces). Packet sockets are tested in
// internal/transport/eth, between network namespaces.
package sys

import (
	"errors"
	"fmt"
)

// ErrUnsupported reports that this operating system lacks what is needed. It matches
// errors.ErrUnsupported.
var ErrUnsupported = fmt.Errorf("weft: needs Linux: %w", errors.ErrUnsupported)

// ErrForbidden reports that the kernel does not let this process read another
// one's memory.
var ErrForbidden = errors.New("weft: reading another process's memory is not allowed")

// ErrNoProcess reports that the process has ended.
var ErrNoProcess = errors.New("weft: the process has ended")
