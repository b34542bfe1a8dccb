package launch

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"
)

// lines writes whole lines of several ranks to one writer.
type lines struct {
	name string
	to   io.Writer // nil for nowhere

	mu  sync.Mutex
	err error // the first failure to write
}

// A lastLine is the beginning of the last line that a rank wrote to standard error: it
// tells why it failed, better than its status does.
type lastLine struct {
	text [200]byte
	n    int
}

// longestLine bounds what is held of a line that does not end: a longer one is
// passed on in pieces.
const longestLine = 1 << 16

// copy passes on what comes from a rank, a line at a time, also to tee if that is
// not nil. It keeps the last line in last.
func (l *lines) copy(from io.Reader, prefix string, tee io.Writer, last *lastLine) {
	in := bufio.NewReaderSize(from, longestLine)
	whole := true // at the beginning of a line
	for {
		text, err := in.ReadSlice('\n')
		if len(text) > 0 {
			ends := text[len(text)-1] == '\n'
			if tee != nil {
				_, _ = tee.Write(text)
			}
			if last != nil && whole {
				last.n = copy(last.text[:], text)
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

// connect gives a rank its standard files. The function returned closes its
// ends in this process.
func (r *Running) connect(p *process) (closeEnds func(), err error) {
	var ends []io.Closer
	closeEnds = func() {
		for _, e := range ends {
			e.Close()
		}
	}
	prefix := ""
	if r.job.Prefix {
		prefix = fmt.Sprintf("[%d] ", p.number)
	}
	var tee io.Writer
	if r.job.Tee != nil {
		tee = r.job.Tee(p.number)
	}
	for _, s := range []struct {
		to   *lines
		file *io.Writer
		last *lastLine
	}{{r.out, &p.cmd.Stdout, nil}, {r.errs, &p.cmd.Stderr, &p.last}} {
		if s.to.to == nil && tee == nil {
			continue
		}
		in, out, err := os.Pipe()
		if err != nil {
			closeEnds()
			return nil, err
		}
		*s.file = out
		ends = append(ends, out)
		p.pipes = append(p.pipes, in)
		p.outputs.Go(func() { s.to.copy(in, prefix, tee, s.last) })
	}
	if p.number == 0 && r.job.Stdin != nil {
		in, out, err := os.Pipe()
		if err != nil {
			closeEnds()
			return nil, err
		}
		p.cmd.Stdin = in
		ends = append(ends, in)
		go func() {
			io.Copy(out, r.job.Stdin)
			out.Close()
		}()
	}
	return closeEnds, nil
}

// drain waits for the last output of a rank that has ended. A process that
// has left the rank's group may keep the pipes open: it gets a second.
func (p *process) drain() {
	done := make(chan struct{})
	go func() {
		p.outputs.Wait()
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(time.Second):
	}
	for _, f := range p.pipes {
		f.Close()
	}
	<-done
}
