package netlabtest

import (
	"bytes"
	"sync"
)

// A Transcript is what a process has written so far. It may be read while the process writes.
type Transcript struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write adds to the transcript.
func (t *Transcript) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.text.Write(b)
}

// String returns all that was written.
func (t *Transcript) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.text.String()
}
