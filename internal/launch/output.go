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

	mu   sync.Mutex
	open *source // whose line has begun and not ended there; nil: none
	err  error   // the first failure to write
}

// A source is what one rank writes to one of its files.
type source struct {
	prefix string
	cut    bool // another source has written since its line began
}

// Marks of a line that is longer than longestLine and between whose pieces others have written.
const (
	goesOn = " [this line goes on]\n"
	onward = "[the line goes on] "
)

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

// longestLine bounds the memory for a line. A longer one is passed on in pieces, which are marked where others come
// between them.
const longestLine = 1 << 20

// copy passes on the output of a rank line by line, also to tee if that is not nil. Words takes note of it.
func (l *lines) copy(from io.Reader, prefix string, tee io.Writer, words *lastWords) {
	in := bufio.NewReaderSize(from, 1<<16)
	of := &source{prefix: prefix}
	var long []byte // what has come of a line that is longer than in's buffer
	whole := true   // at the beginning of a line
	for {
		text, err := in.ReadSlice('\n')
		if tee != nil && len(text) > 0 {
			_, _ = tee.Write(text)
		}
		if more := errors.Is(err, bufio.ErrBufferFull); len(long) > 0 || more {
			long = append(long, text...)
			if more && len(long) < longestLine {
				continue
			}
			text = long
			long = nil
		}
		if len(text) > 0 {
			ends := text[len(text)-1] == '\n'
			if words != nil && whole {
				words.take(text)
			}
			l.write(of, text, whole, err == io.EOF && !ends && prefix != "")
			whole = ends
		}
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return
		}
	}
}

// write passes on a line of a source, or a piece of one. First says that a line begins, and last that it is to be
// ended.
func (l *lines) write(of *source, text []byte, first, last bool) {
	if l.to == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open != nil && l.open != of {
		l.open.cut = true
		l.put([]byte(goesOn))
	}
	if first || of.cut {
		l.put([]byte(of.prefix))
	}
	if of.cut && !first {
		l.put([]byte(onward))
	}
	of.cut = false
	l.put(text)
	l.open = nil
	switch {
	case last:
		l.put([]byte{'\n'})
	case text[len(text)-1] != '\n':
		l.open = of
	}
}

// put writes a text. l.mu is held.
func (l *lines) put(text []byte) {
	if len(text) == 0 {
		return
	}
	if _, err := l.to.Write(text); err != nil && l.err == nil {
		l.err = err
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
