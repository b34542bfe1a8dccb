package bootstrap

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"
)

// The launcher and each of its ranks talk over a Unix stream socket in lines
// of JSON. The launcher speaks first: job. A rank then puts, gets and fences;
// every get and fence is answered, in any order. A rank says return when its program has
// ended, and leave when it leaves in good order. Unasked, the launcher says returned and
// down of other ranks, and asks for its state. If it wants to know, a rank says record before
// it leaves, with what it has recorded in pieces. The connection ends with either of them.
//
// Where rank 0 serves a job that others started (Gathering), the rank speaks first: join.
// The server answers refused, or, when all have joined, job. Every ten seconds until then,
// and once to a rank that waits in a fence, it says which ranks are missing. It passes on
// what others have put (told), so that little is lost with rank 0. A rank whose program has
// failed says fail before it ends.

// maxLine bounds a line, and so what one side can make the other hold.
const maxLine = 64 << 10

// MostRecord bounds the bytes of one Record: in a line they take four thirds of that.
const MostRecord = 40 << 10

// maxKeys bounds the keys that a rank may put.
const maxKeys = 64

// line is one line in either direction.
type line struct {
	Op    string   `json:"op"` // as above
	Seq   uint64   `json:"seq,omitempty"`
	Rank  int      `json:"rank,omitempty"`
	Key   string   `json:"key,omitempty"`
	Value string   `json:"value,omitempty"`
	Told  []int    `json:"told,omitempty"`  // return: ranks that know; missing: ranks that have not come
	Bytes []byte   `json:"bytes,omitempty"` // record
	Job   *jobLine `json:"job,omitempty"`
	Join  *Member  `json:"join,omitempty"`
}

// jobLine is a Job on its way to a rank.
type jobLine struct {
	Rank, Size, Local, Crowd int
	ID                       uint64
	Secret                   []byte
	Host, Bind               string
	Transport                string
	Liveness                 time.Duration
}

// line returns the job as it is told to a rank.
func (j Job) line() line {
	return line{Op: "job", Job: &jobLine{
		Rank: j.Rank, Size: j.Size, Local: j.Local, Crowd: j.Crowd, ID: j.ID, Secret: j.Secret,
		Host: j.Host, Bind: j.Bind, Transport: j.Transport, Liveness: j.Liveness,
	}}
}

// job returns the job that a rank has been told, unless it makes no sense.
func (l line) job() (Job, error) {
	j := l.Job
	if l.Op != "job" || j == nil {
		return Job{}, ErrProtocol
	}
	if j.Size < 1 || j.Rank < 0 || j.Rank >= j.Size {
		return Job{}, fmt.Errorf("%w: rank %d of %d", ErrProtocol, j.Rank, j.Size)
	}
	return Job{
		Rank: j.Rank, Size: j.Size, Local: j.Local, Crowd: j.Crowd, ID: j.ID, Secret: j.Secret,
		Host: j.Host, Bind: j.Bind, Transport: j.Transport, Liveness: j.Liveness,
	}, nil
}

// ErrExited is the cause of the end of a rank whose program ended well.
var ErrExited = errors.New("its program has ended")

// ErrReturned says of a rank that its program has ended, and its process has not.
var ErrReturned = errors.New("its program has returned")

// errUnsaid is the cause of the end of a rank that ended well and did not leave.
var errUnsaid = errors.New("its process has ended, and it had not left the job")

// news turns the launcher's words about a rank into an error.
func (l line) news() error {
	if l.Op == "returned" {
		return ErrReturned
	}
	return ended(l.Value)
}

// ended turns the launcher's words into an error.
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
