package process

import (
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
}

// lastWords is how long a reader waits for more after the process has ended: a child that has left its process group
// may hold the pipe open.
const lastWords = time.Second

// Read reads from the pipe. After the process has ended, each call waits for at most lastWords.
func (o *output) Read(b []byte) (int, error) {
	if o.ended.Load() {
		_ = o.file.SetReadDeadline(time.Now().Add(lastWords))
	}
	return o.file.Read(b)
}

// end records that the process has ended.
func (o *output) end() {
	o.ended.Store(true)
	_ = o.file.SetReadDeadline(time.Now().Add(lastWords))
}
