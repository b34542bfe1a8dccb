package job

import (
	"bytes"
	"io"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// lastLines returns the last five lines of a text.
func lastLines(text string) string {
	const few = 5
	at := len(strings.TrimRight(text, "\n"))
	for range few {
		if at = strings.LastIndexByte(text[:at], '\n'); at < 0 {
			return text
		}
	}
	return text[at+1:]
}

// A rank is a rank of a Job.
type rank struct {
	killed atomic.Bool // by Kill

	mu   sync.Mutex
	text []byte        // the output of the rank
	more chan struct{} // closed when the rank writes more; nil if no goroutine waits for that
}

// mostOutput bounds, in bytes, the output of a rank that is kept.
const mostOutput = 16 << 20

// Write appends to the output of the rank.
func (r *rank) Write(b []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.text)+len(b) > mostOutput {
		r.text = slices.Delete(r.text, 0, len(r.text)/2)
	}
	r.text = append(r.text, b...)
	if r.more != nil {
		close(r.more)
		r.more = nil
	}
	return len(b), nil
}

// find reports whether the rank has written text, and returns a channel that is closed
// when it writes more.
func (r *rank) find(text string) (found bool, more <-chan struct{}) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.more == nil {
		r.more = make(chan struct{})
	}
	return bytes.Contains(r.text, []byte(text)), r.more
}

// A lockedWriter may be written to by any goroutine.
type lockedWriter struct {
	mu sync.Mutex
	to io.Writer
}

func (w *lockedWriter) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.to.Write(b)
}
