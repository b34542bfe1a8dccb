package process

import (
	"io"
	"os"
	"sync/atomic"
	"time"
)

// An output is what a process writes to a standard file, as its reader sees it.
type output struct {
	file  *os.File
	read  func(io.Reader)
	ended atomic.Bool // the process has ended
}

// lastWords is how long a reader waits for more once the process has ended: a process
// that has left its group may keep the pipe open.
const lastWords = time.Second

// Read reads what has been written. After the process has ended it waits for a moment
// only; the time that its reader takes itself does not count.
func (o *output) Read(b []byte) (int, error) {
	if o.ended.Load() {
		_ = o.file.SetReadDeadline(time.Now().Add(lastWords))
	}
	return o.file.Read(b)
}

// end says that the process has ended.
func (o *output) end() {
	o.ended.Store(true)
	_ = o.file.SetReadDeadline(time.Now().Add(lastWords))
}
