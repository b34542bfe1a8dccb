package bootstrap

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
)

// The launcher and each of its ranks exchange lines of JSON over a Unix stream socket:
//
//	from the launcher           from a rank
//	job     first of all        put, get, fence
//	value   answers a get       return  its program has ended
//	fenced  answers a fence     await   tell when that of a rank has, or of every rank (-1)
//	down    of another rank     fail    its program has failed, and why
//	returned  of other ranks    record  a piece of what it has recorded
//	state   a question          stated  answers state
//	record  asks for its recording      leave   it leaves the job
//
// Gets and fences are answered in any order. The connection ends with either process.
//
// Where rank 0 serves a job that another launcher started (Gathering), a rank sends join first. The server answers
// refused, or, when all ranks have joined, job. Until then, every ten seconds, it sends missing with the ranks that
// have not joined; it sends missing to a rank in a fence, too. It passes on all values (told), so that little is lost
// if rank 0 dies.

// maxLine bounds a line, and with it the memory that one side can make the other hold.
const maxLine = 64 << 10

// MostRecord bounds the bytes of one Record: in a line they take a third more.
const MostRecord = 40 << 10

// maxKeys bounds the keys that a rank may put.
const maxKeys = 64

// line is one line in either direction.
type line struct {
	Op    string `json:"op"` // as above
	Seq   uint64 `json:"seq,omitempty"`
	Rank  int    `json:"rank,omitempty"`
	Key   string `json:"key,omitempty"`
	Value string `json:"value,omitempty"`
	// Told are the ranks that know (return), have returned (returned), have not come (missing), or because of which this
	// rank failed (fail).
	Told  []int   `json:"told,omitempty"`
	Bytes []byte  `json:"bytes,omitempty"` // record
	Job   *Job    `json:"job,omitempty"`
	Join  *Member `json:"join,omitempty"`
}

// job returns the job of a line, or ErrProtocol if there is none that makes sense.
func (l line) job() (Job, error) {
	j := l.Job
	if l.Op != "job" || j == nil {
		return Job{}, ErrProtocol
	}
	if j.Size < 1 || j.Rank < 0 || j.Rank >= j.Size {
		return Job{}, fmt.Errorf("%w: rank %d of %d", ErrProtocol, j.Rank, j.Size)
	}
	return *j, nil
}

// ErrExited is why a rank is down that has left the job and ended with status 0.
var ErrExited = errors.New("its program has ended")

// ErrReturned reports that the program of a rank has ended, and its process has not.
var ErrReturned = errors.New("its program has returned")

// errUnsaid is why a rank is down that has ended with status 0 but did not leave the job.
var errUnsaid = errors.New("its process has ended before it left the job")

// report calls down with each event of other ranks.
func (l line) report(down func(rank int, cause error)) {
	if l.Op == "down" {
		down(l.Rank, ended(l.Value))
		return
	}
	for _, rank := range l.Told {
		down(rank, ErrReturned)
	}
}

// ended returns the error for the cause in a down line.
func ended(cause string) error {
	if cause == ErrExited.Error() {
		return ErrExited
	}
	return errors.New(cause)
}

// ErrProtocol reports a line that makes no sense.
var ErrProtocol = errors.New("weft: bootstrap: bad line")

// conn reads and writes lines.
type conn struct {
	io.ReadWriteCloser
	in *bufio.Reader
}

func newConn(c io.ReadWriteCloser) *conn { return &conn{c, bufio.NewReaderSize(c, maxLine)} }

// read reads a line. A line longer than maxLine, or one that is no JSON, is an error: the other side may be
// anything.
func (c *conn) read() (l line, err error) {
	text, err := c.in.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		return l, fmt.Errorf("%w: longer than %d bytes", ErrProtocol, maxLine)
	}
	if err != nil {
		return l, err
	}
	if err := json.Unmarshal(text, &l); err != nil {
		return l, fmt.Errorf("%w: %v", ErrProtocol, err)
	}
	return l, nil
}

// write writes a line in one piece. It refuses a line that the other side would refuse.
func (c *conn) write(l line) error {
	text, err := json.Marshal(l)
	if err != nil {
		return err
	}
	if len(text) >= maxLine {
		return fmt.Errorf("%w: longer than %d bytes", ErrProtocol, maxLine)
	}
	_, err = c.Write(append(text, '\n'))
	return err
}

// name is the key under which a rank's value is kept.
func name(rank int, key string) string { return strconv.Itoa(rank) + "/" + key }
