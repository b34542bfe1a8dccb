package launch

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"weft/internal/process"
)

// lines writes the output of several ranks to one writer, line by line.
type lines struct {
	name string
	to   io.Writer // nil for nowhere

	mu  sync.Mutex
	err error // the first failure to write
}

// A line is the beginning of a line that a rank wrote to standard error.
type line struct {
	text [200]byte
	n    int
}

func (l *line) set(text []byte) { l.n = copy(l.text[:], text) }

func (l *line) String() string { return strings.TrimSpace(string(l.text[:l.n])) }

// lastWords are lines of a rank that say more about its failure than its exit status.
type lastWords struct {
	last  line
	panic line // the last with which the Go runtime began to report a panic or an error of its own: stacks follow
}

// take takes note of a line.
func (w *lastWords) take(text []byte) {
	w.last.set(text)
	if bytes.HasPrefix(text, []byte("panic: ")) || bytes.HasPrefix(text, []byte("fatal error: ")) {
		w.panic.set(text)
	}
}

// about returns the line that says most about how a rank has ended, or "".
func (w *lastWords) about(e process.Exit) string {
	const ofPanics = 2
	switch {
	case e.Signaled:
		return ""
	case e.Status == ofPanics && w.panic.n > 0:
		return w.panic.String()
	}
	return w.last.String()
}

// longestLine bounds the memory for a line. A longer one is passed on in pieces.
const longestLine = 1 << 16

// copy passes on the output of a rank line by line, also to tee if that is not nil. Words takes note of it.
func (l *lines) copy(from io.Reader, prefix string, tee io.Writer, words *lastWords) {
	in := bufio.NewReaderSize(from, longestLine)
	whole := true // at the beginning of a line
	for {
		text, err := in.ReadSlice('\n')
		if len(text) > 0 {
			ends := text[len(text)-1] == '\n'
			if tee != nil {
				_, _ = tee.Write(text)
			}
			if words != nil && whole {
				words.take(text)
			}
			l.write(text, prefix, whole, err == io.EOF && !ends && prefix != "")
			whole = ends
		}
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return
		}
	}
}

func (l *lines) write(text []byte, prefix string, first, last bool) {
	if l.to == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	put := func(b []byte) {
		if _, err := l.to.Write(b); err != nil && l.err == nil {
			l.err = err
		}
	}
	if first && prefix != "" {
		put([]byte(prefix))
	}
	put(text)
	if last {
		put([]byte{'\n'})
	}
}

// streams connects the standard files of a rank, and its connection to the launcher.
func (r *Running) streams(k *rank) (s process.Streams) {
	prefix := ""
	if r.job.Prefix {
		prefix = fmt.Sprintf("[%d] ", k.number)
	}
	var tee io.Writer
	if r.job.Tee != nil {
		tee = r.job.Tee(k.number)
	}
	if r.out.to != nil || tee != nil {
		s.Stdout = func(from io.Reader) { r.out.copy(from, prefix, tee, nil) }
	}
	if r.errs.to != nil || tee != nil {
		s.Stderr = func(from io.Reader) { r.errs.copy(from, prefix, tee, &k.words) }
	}
	if k.number == 0 && r.job.Stdin != nil {
		s.Stdin = func(to io.WriteCloser) {
			_, _ = io.Copy(to, r.job.Stdin) // fails if the rank closes its standard input
			to.Close()
		}
	}
	s.Launcher = func(c io.ReadWriteCloser) { r.serve(k, c) }
	return s
}
