package process

import (
	"errors"
	"io"
	"os"
	"sync/atomic"
	"time"
)

// An output is the reading end of a pipe from a process's standard output or standard error.
type output struct {
	file  *os.File
	read  func(io.Reader)
	ended atomic.Bool // the process has ended
	rest  int         // how many bytes are read after that, at most
}

// largestPipe is how much a pipe holds at most, unless root has made it larger.
const largestPipe = 1 << 20

// Read reads from the pipe. After the process has ended it reads what is there, and does not wait for more: a child
// that has left the process group may hold the pipe open, and go on writing.
func (o *output) Read(b []byte) (n int, err error) {
	if !o.ended.Load() {
		if n, err = o.file.Read(b); !errors.Is(err, os.ErrDeadlineExceeded) {
			return n, err
		}
	}
	if o.rest == 0 {
		return 0, io.EOF
	}
	for again := true; again; again = errors.Is(err, os.ErrDeadlineExceeded) {
		_ = o.file.SetReadDeadline(time.Time{})
		n, err = readNow(o.file, b[:min(len(b), o.rest)])
	}
	o.rest -= n
	return n, err
}

// end records that the process has ended.
func (o *output) end() {
	o.ended.Store(true)
	_ = o.file.SetReadDeadline(time.Now())
}
