package pmi

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"sync"
)

// MaxValue is how long a value may be, in bytes: lines of clients may have 1,024 in all.
const MaxValue = 600

// An Address is where the process manager's side is, as the environment says.
type Address struct {
	FD   string // PMI_FD: the descriptor of a stream that is connected already
	Port string // PMI_PORT: host:port to connect to
	ID   string // PMI_ID: which process this is, with Port
	Rank string // PMI_RANK, with FD
	Size string // PMI_SIZE, with FD
	Job  string // PMI_JOBID; "" if the store's name is to stand for it
}

// A Client is a conversation with the process manager. Its methods may be called by any
// goroutine.
type Client struct {
	mu         sync.Mutex // held during a request and its reply
	c          net.Conn
	in         *bufio.Reader
	rank, size int
	job        string
	space      string // the name of the store
	watching   sync.Mutex
	ending     bool          // it is told goodbye; guarded by watching
	quiet      chan struct{} // closed when Watch reads no more; nil without it
}

// Errors of the protocol.
var (
	ErrProtocol = errors.New("weft: pmi: bad reply of the process manager")
	ErrRefused  = errors.New("weft: pmi: the process manager refuses")
)

// Open begins the conversation.
func Open(ctx context.Context, a Address) (*Client, error) {
	c := &Client{rank: -1, size: -1, job: a.Job}
	var err error
	switch {
	case a.FD != "":
		c.c, err = inherited(a.FD)
	case a.Port != "":
		c.c, err = new(net.Dialer).DialContext(ctx, "tcp", a.Port)
	default:
		err = errors.New("neither PMI_FD nor PMI_PORT is set")
	}
	if err != nil {
		return nil, fmt.Errorf("weft: pmi: %w", err)
	}
	c.in = bufio.NewReaderSize(c.c, maxLine)
	if a.FD != "" {
		if c.rank, err = strconv.Atoi(a.Rank); err == nil {
			c.size, err = strconv.Atoi(a.Size)
		}
		if err != nil {
			c.c.Close()
			return nil, fmt.Errorf("weft: pmi: PMI_FD is set, with PMI_RANK=%q and PMI_SIZE=%q: must be numbers", a.Rank, a.Size)
		}
	}
	err = c.within(ctx, func() error { return c.begin(a) })
	if err == nil && (c.size < 1 || c.rank < 0 || c.rank >= c.size) {
		err = fmt.Errorf("%w: it says rank %d of %d", ErrProtocol, c.rank, c.size)
	}
	if err != nil {
		c.c.Close()
		return nil, err
	}
	return c, nil
}

// inherited returns the connection of a descriptor that the process manager has passed on.
// Children of this process do not get it.
func inherited(text string) (net.Conn, error) {
	fd, err := strconv.Atoi(text)
	if err != nil || fd < 3 {
		return nil, fmt.Errorf("PMI_FD=%q is no descriptor that a process manager passes on", text)
	}
	f := os.NewFile(uintptr(fd), "pmi")
	defer f.Close()
	c, err := net.FileConn(f) // duplicates, close-on-exec
	if err != nil {
		return nil, fmt.Errorf("descriptor %d (PMI_FD) is no socket: %w", fd, err)
	}
	return c, nil
}

// begin names this process to the process manager, agrees with it on the version, and asks for the store.
func (c *Client) begin(a Address) error {
	if a.Port != "" && a.FD == "" {
		if err := c.identify(a.ID); err != nil {
			return err
		}
	}
	if err := c.offer(); err != nil {
		return err
	}
	return c.findStore()
}

// within runs a request and its reply, or several.
func (c *Client) within(ctx context.Context, f func() error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	// a reply that comes later would be taken for that of another request
	stop := context.AfterFunc(ctx, func() { c.c.Close() })
	defer stop()
	err := f()
	if cause := ctx.Err(); err != nil && cause != nil {
		return cause
	}
	return err
}

// Rank returns which rank this process is, and Size how many there are.
func (c *Client) Rank() int { return c.rank }

// Size returns how many ranks there are.
func (c *Client) Size() int { return c.size }

// Job returns the process manager's name of the job.
func (c *Client) Job() string { return c.job }

// Put makes a value known under a key to all that come to the next fence. Key and value have
// letters, digits and -_+/.,:=() only.
func (c *Client) Put(ctx context.Context, key, value string) error {
	if len(value) > MaxValue || !plain(key) || !plain(value) {
		return fmt.Errorf("weft: pmi: put of %d bytes under %q: at most %d, of letters, digits and -_+/.,:=()", len(value),
			key, MaxValue)
	}
	return c.within(ctx, func() error { return c.put(key, value) })
}

// Get returns what was put under a key before the last fence, if anything was.
func (c *Client) Get(ctx context.Context, key string) (value string, found bool, err error) {
	err = c.within(ctx, func() (err error) {
		value, found, err = c.get(key)
		return err
	})
	return value, found, err
}

// Fence returns when all ranks have called it as often as this one. If ctx ends first the
// conversation has ended, too.
func (c *Client) Fence(ctx context.Context) error {
	return c.within(ctx, c.fence)
}

// Finalize ends the conversation in good order. A process that ends without it has failed, for
// process managers that care.
func (c *Client) Finalize(ctx context.Context) error {
	defer c.c.Close()
	return c.within(ctx, func() error {
		c.watching.Lock()
		c.ending = true
		c.watching.Unlock()
		return c.finalize()
	})
}

// Close ends the conversation of a process that has not become a rank.
func (c *Client) Close() { c.c.Close() }

// Watch calls gone, from a goroutine of its own, when the process manager's side ends before Finalize.
// Afterwards there may be no other request than Finalize.
func (c *Client) Watch(gone func(cause error)) {
	quiet := make(chan struct{})
	c.mu.Lock()
	defer c.mu.Unlock()
	c.quiet = quiet
	go func() {
		_, err := c.in.Peek(1) // nothing comes that has not been asked for
		c.watching.Lock()
		ending := c.ending
		c.watching.Unlock()
		close(quiet)
		if err != nil && !ending {
			gone(fmt.Errorf("weft: pmi: the process manager is gone: %w", err))
		}
	}()
}

// replies returns where replies are read.
func (c *Client) replies() *bufio.Reader {
	if c.quiet != nil {
		<-c.quiet
	}
	return c.in
}

// plain reports whether a text has only characters that every process manager passes on.
func plain(text string) bool {
	for _, r := range []byte(text) {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9':
		case r == '-', r == '_', r == '+', r == '/', r == '.', r == ',', r == ':', r == '=', r == '(', r == ')':
		default:
			return false
		}
	}
	return text != ""
}
