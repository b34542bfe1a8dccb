package endpoint

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"

	"weft"
)

// Config is what a library tells of an endpoint.
type Config struct {
	Library string   // the package's name, with which its errors begin
	Table   []string // the names of the handlers, by index
	Params  []Param  // what must be the same at all ranks

	Longest  int // bytes of a message
	PerPeer  int // messages that may be on their way to one rank, each of up to Longest bytes
	Controls int // and others of up to 64 bytes

	// Runner is what the names of the functions begin with that call handlers, and of no others: by
	// it a handler that calls its own endpoint is told from another goroutine.
	Runner string

	// Prepare, if it is not nil, is called before the ranks are compared. Its error is that of
	// all ranks.
	Prepare func() error

	// InHandler is the error of a handler, or a condition, that calls its own endpoint.
	InHandler error

	// Handle handles the message that has been received, and releases it.
	Handle func()

	// Departed is told once of each rank that takes no part any more.
	Departed func(rank int, why *weft.PeerError)
}

// A Param is a value that must be the same at all ranks.
type Param struct {
	Name  string
	Value int
}

const (
	maxName   = 255
	maxHello  = 30 << 10 // bytes, so that it travels without being asked for
	maxReason = 1 << 10
)

// ErrTable says that the ranks have opened an endpoint with different tables of handlers or different configurations.
var ErrTable = errors.New("weft: the tables of handlers differ")

// A TableError reports, at all ranks, that a rank has opened an endpoint with another table of handlers than rank 0, or
// with another value of the configuration. It matches ErrTable.
type TableError struct {
	Library string // the package of the endpoint, such as "am"
	Rank    int    // the rank that differs from rank 0
	Index   int    // of the first handler that differs, or -1: a value of the configuration differs
	Theirs  string // what Rank has there; empty if it has nothing
	Ours    string // what rank 0 has there; empty if it has nothing
}

func (e *TableError) Error() string {
	what := fmt.Sprintf("handler %d", e.Index)
	if e.Index < 0 {
		what = "the configuration"
	}
	return fmt.Sprintf("%s: %s of rank %d is %s, that of rank 0 is %s: all ranks must open the endpoint with the same",
		e.Library, what, e.Rank, cmp.Or(e.Theirs, "missing"), cmp.Or(e.Ours, "missing"))
}

// Is makes every TableError match ErrTable.
func (e *TableError) Is(target error) bool { return target == ErrTable }

// Open opens a channel at all ranks of the job, and returns when all have done so with
// the same table and parameters. Rank 0 compares, and tells all. If a rank is gone, or its
// context ends first, that is the error at all ranks.
func Open(ctx context.Context, p *weft.Proc, channel int, cfg Config) (*Endpoint, error) {
	hello, err := cfg.hello()
	if err != nil {
		return nil, err
	}
	e := &Endpoint{cfg: cfg, p: p, Me: p.Rank(), Size: p.Size(), in: make([]byte, cfg.Longest),
		mu: NewMutex(p)}
	e.gone = make([]error, e.Size)
	e.whys = make([]departure, e.Size)
	e.Port, err = p.OpenPort(channel, cfg.port(e.Size))
	if err != nil {
		return nil, err
	}
	var unready error
	if cfg.Prepare != nil {
		unready = cfg.Prepare()
	}
	if e.Me == 0 {
		err = e.compare(ctx, unready)
	} else {
		if unready != nil {
			hello = e.tell(kindHello, unready)
		}
		if err = e.join(ctx, hello); err == nil || unready != nil {
			err = unready
		}
	}
	if err != nil {
		e.Port.Close()
		return nil, err
	}
	ctx, e.stop = context.WithCancel(context.WithoutCancel(ctx))
	e.watch = p.Go(func() { e.watchDepartures(ctx) })
	return e, nil
}

// port makes room for all that may be on its way to and from all other ranks. A message
// takes the next power of two, and a port keeps at most half of its room for one rank.
func (c *Config) port(ranks int) *weft.PortConfig {
	block := 64
	for block < c.Longest {
		block *= 2
	}
	perPeer := c.PerPeer*block + c.Controls*64
	room := max(perPeer*(ranks-1), 2*perPeer) + 2*maxHello + 64*ranks
	return &weft.PortConfig{RecvBuffer: max(room, 1<<16), SendBuffer: max(room, 1<<16), MaxMessage: 1 << 15}
}

// hello makes the message by which a rank shows its table.
func (c *Config) hello() ([]byte, error) {
	b := make([]byte, HeadSize)
	b[0] = kindHello
	b = append(b, byte(len(c.Params)))
	for _, v := range c.Params {
		b = binary.LittleEndian.AppendUint64(b, uint64(v.Value))
	}
	for i, name := range c.Table {
		if len(name) < 1 || len(name) > maxName {
			return nil, &weft.ConfigError{Field: fmt.Sprintf("length of the name of handler %d", i), Value: len(name),
				Min: 1, Max: maxName}
		}
		b = append(append(b, byte(len(name))), name...)
	}
	if len(b) > maxHello {
		return nil, &weft.TooLongError{Size: len(b), Limit: maxHello, What: "what the names of all handlers may take"}
	}
	return b, nil
}

// parseHello returns the values and names in a hello, as far as it makes sense.
func parseHello(b []byte) (values []int, names []string) {
	if len(b) < 1 || len(b) < 1+8*int(b[0]) {
		return nil, nil
	}
	n := int(b[0])
	b = b[1:]
	for ; n > 0; n-- {
		values = append(values, int(binary.LittleEndian.Uint64(b)))
		b = b[8:]
	}
	for len(b) > 0 {
		n := int(b[0])
		if len(b) < 1+n {
			return values, names
		}
		names = append(names, string(b[1:1+n]))
		b = b[1+n:]
	}
	return values, names
}

// differs returns a TableError if a rank's hello is not the same as this one's.
func (c *Config) differs(rank int, hello []byte) error {
	values, names := parseHello(hello)
	for i, v := range c.Params {
		if i >= len(values) || values[i] != v.Value {
			e := &TableError{Library: c.Library, Rank: rank, Index: -1, Ours: fmt.Sprintf("%s %d", v.Name, v.Value)}
			if i < len(values) {
				e.Theirs = fmt.Sprintf("%s %d", v.Name, values[i])
			}
			return e
		}
	}
	for i := range max(len(names), len(c.Table)) {
		e := &TableError{Library: c.Library, Rank: rank, Index: i}
		if i < len(names) {
			e.Theirs = fmt.Sprintf("%q", names[i])
		}
		if i < len(c.Table) {
			e.Ours = fmt.Sprintf("%q", c.Table[i])
		}
		if e.Theirs != e.Ours {
			return e
		}
	}
	return nil
}

// compare is rank 0's part: it hears all others, and tells them the verdict.
func (e *Endpoint) compare(ctx context.Context, unready error) error {
	verdict := unready
	for rank := 1; rank < e.Size && verdict == nil; {
		m, err := e.Port.RecvFrom(ctx, rank)
		if err != nil {
			verdict = err
			break
		}
		b := m.Data
		if len(b) < HeadSize || b[0] != kindHello {
			m.Release()
			continue // of an earlier opening
		}
		if verdict = e.verdict(b); verdict == nil {
			verdict = e.cfg.differs(rank, b[HeadSize:])
		}
		m.Release()
		rank++
	}
	e.epoch = uint32(e.p.Now()) | 1
	b := e.tell(kindWelcome, verdict)
	for rank := 1; rank < e.Size; rank++ {
		if e.Port.Send(ctx, rank, b) != nil {
			_ = e.Port.TrySend(rank, b) // if it is our context that has ended
		}
	}
	return verdict
}

// tell makes a message that tells a verdict, or a rank's own error: a TableError in its
// parts, any other error as its text and the rank that is gone.
func (e *Endpoint) tell(kind byte, verdict error) []byte {
	b := make([]byte, HeadSize, HeadSize+64)
	e.Head(b, kind, 0, 0)
	if verdict == nil {
		return b
	}
	var table *TableError
	var gone *weft.PeerError
	switch {
	case errors.As(verdict, &table):
		b[1] = 1
		b = binary.LittleEndian.AppendUint64(b, uint64(table.Rank))
		b = binary.LittleEndian.AppendUint64(b, uint64(int64(table.Index)))
		b = append(append(b, byte(min(len(table.Theirs), maxName))), table.Theirs[:min(len(table.Theirs), maxName)]...)
		return append(b, table.Ours[:min(len(table.Ours), maxName)]...)
	case errors.As(verdict, &gone):
		b[1] = 2
		b = binary.LittleEndian.AppendUint64(b, uint64(gone.Rank))
		if gone.Clean {
			b[2] = 1
		}
		return append(b, clip(gone.Cause.Error())...)
	}
	b[1] = 3
	return append(b, clip(verdict.Error())...)
}

func clip(s string) string { return s[:min(len(s), maxReason)] }

// join is the part of all others. Rank 0 may have left before it has heard from this rank: it
// has told why.
func (e *Endpoint) join(ctx context.Context, hello []byte) error {
	unsent := e.Port.Send(ctx, 0, hello)
	if unsent != nil && !errors.Is(unsent, weft.ErrPeer) {
		return unsent
	}
	for {
		m, err := e.Port.RecvFrom(ctx, 0)
		if err != nil {
			return cmp.Or(unsent, err)
		}
		if len(m.Data) >= HeadSize && m.Data[0] == kindWelcome {
			e.epoch = binary.LittleEndian.Uint32(m.Data[4:])
			err = e.verdict(m.Data)
			m.Release()
			return err
		}
		m.Release()
	}
}

// verdict returns the error in a welcome, or nil.
func (e *Endpoint) verdict(b []byte) error {
	how := b[1]
	clean := b[2] != 0
	b = b[HeadSize:]
	switch {
	case how == 0:
		return nil
	case how == 1 && len(b) >= 17 && len(b) >= 17+int(b[16]):
		n := 17 + int(b[16])
		return &TableError{
			Library: e.cfg.Library, Rank: int(binary.LittleEndian.Uint64(b)),
			Index:  int(int64(binary.LittleEndian.Uint64(b[8:]))),
			Theirs: string(b[17:n]), Ours: string(b[n:]),
		}
	case how == 2 && len(b) >= 8:
		return &weft.PeerError{Rank: int(binary.LittleEndian.Uint64(b)), Clean: clean, Cause: errors.New(string(b[8:]))}
	}
	return fmt.Errorf("%s: a rank has not opened the endpoint: %s", e.cfg.Library, strings.TrimPrefix(string(b), "weft: "))
}
