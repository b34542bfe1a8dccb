// Package sys holds the system calls that weft needs and the standard library
// does not have, each as a small function with Go types. On systems other than
// Linux those that have no equivalent return ErrUnsupported.
package sys

import "errors"

// ErrUnsupported reports that this operating system lacks what is needed.
var ErrUnsupported = errors.New("weft: needs Linux")

// ErrForbidden reports that the kernel does not let this process read another
// one's memory.
var ErrForbidden = errors.New("weft: reading another process's memory is not allowed")
