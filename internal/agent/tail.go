package agent

import (
	"strings"
	"sync"
)

// A tail is the end of what a command has written, for its last words.
type tail struct {
	mu   sync.Mutex
	text []byte
}

// mostTail bounds what is kept.
const mostTail = 4 << 10

// Write keeps the end of what has been written.
func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, b...)
	if n := len(t.text) - mostTail; n > 0 {
		t.text = append(t.text[:0], t.text[n:]...)
	}
	return len(b), nil
}

// line returns the last line that says something, without what a terminal would obey.
func (t *tail) line() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	lines := strings.Split(strings.TrimSpace(string(t.text)), "\n")
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 {
			return -1
		}
		return r
	}, lines[len(lines)-1]))
}
