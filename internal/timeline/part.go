package timeline

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"time"

	"weft/internal/sys"
)

// A Part is what one rank recorded, by the kernel's monotonic clock of its host, in
// nanoseconds.
type Part struct {
	Head
	Events []Event // by Begin

	// Lost is how many events of Head.Events did not come: the rank was killed while it
	// handed them over.
	Lost int
}

// A Head tells about a part.
type Head struct {
	Rank, Size int
	Host       string
	PID        int
	Program    string
	Clock      string // ranks with the same share the monotonic clock
	Wall       int64  // the wall clock, less the monotonic clock, in nanoseconds
	Dropped    uint64 // earlier events that found no place any more
	Events     int
	Names      map[uint64]string `json:",omitempty"` // of what coordinates
}

// Simulated is the clock of ranks in the simulator.
const Simulated = "simulated"

// Part returns what has been recorded, and stops nothing: the caller holds the node's
// lock, or the node is closed.
func (r *Recorder) Part(rank, size int, host string) *Part {
	r.mu.Lock()
	defer r.mu.Unlock()
	calls, before := r.calls.held()
	others, alsoBefore := r.others.held()
	end := r.point()
	p := &Part{Head: Head{
		Rank: rank, Size: size, Host: host, PID: os.Getpid(), Program: filepath.Base(os.Args[0]), Clock: sys.ClockDomain(),
		Wall: time.Now().UnixNano() - sys.Monotonic(), Dropped: before + alsoBefore, Names: maps.Clone(r.names),
	}}
	if r.host != nil {
		p.Clock = Simulated
		p.Wall = 0
		p.PID = 0
	}
	p.Events = make([]Event, 0, len(calls)+len(others))
	for _, events := range [][]Event{calls, others} {
		for _, e := range events {
			e.Begin = between(r.began, end, e.Begin)
			e.End = between(r.began, end, e.End)
			p.Events = append(p.Events, e)
		}
	}
	slices.SortStableFunc(p.Events, func(a, b Event) int {
		return cmp.Or(cmp.Compare(a.Begin, b.Begin), cmp.Compare(b.End, a.End), a.inner()-b.inner())
	})
	p.Head.Events = len(p.Events)
	return p
}

// inner is 1 for a sleep, which is part of what else took the same time.
func (e *Event) inner() int {
	if e.Kind == Sleep {
		return 1
	}
	return 0
}

// between turns a reading of the recording's clock into one of the monotonic clock, which
// is known at two moments.
func between(a, b point, ticks int64) int64 {
	if b.Ticks == a.Ticks {
		return a.Mono + ticks - a.Ticks
	}
	perTick := float64(b.Mono-a.Mono) / float64(b.Ticks-a.Ticks)
	return a.Mono + int64(math.Round(float64(ticks-a.Ticks)*perTick))
}

// Write writes the part: its head as a line of JSON, and then each event as numbers of
// variable length.
func (p *Part) Write(w io.Writer) error {
	out := bufio.NewWriterSize(w, 32<<10)
	if err := json.NewEncoder(out).Encode(p.Head); err != nil {
		return err
	}
	var b []byte
	last := int64(0)
	for i := range p.Events {
		e := &p.Events[i]
		b = append(b[:0], byte(e.Kind), byte(e.Flags))
		b = binary.AppendVarint(b, e.Begin-last)
		b = binary.AppendUvarint(b, uint64(max(e.End-e.Begin, 0)))
		b = binary.LittleEndian.AppendUint64(b, e.ID)
		b = binary.AppendUvarint(b, e.Size)
		b = binary.AppendVarint(b, int64(e.Peer))
		b = binary.AppendUvarint(b, uint64(e.Count))
		last = e.Begin
		if _, err := out.Write(b); err != nil {
			return err
		}
	}
	return out.Flush()
}

// ErrPart reports bytes that are no part of a timeline.
var ErrPart = errors.New("weft: this is no part of a timeline")

// mostRanks bounds what a part may say of its job.
const mostRanks = 1 << 20

// Parse reads a part. A part that ends before its last event is read as far as it goes.
func Parse(b []byte) (*Part, error) {
	head, rest, ok := bytes.Cut(b, []byte{'\n'})
	p := &Part{}
	if !ok {
		return nil, fmt.Errorf("%w: it has no head", ErrPart)
	}
	if err := json.Unmarshal(head, &p.Head); err != nil {
		return nil, fmt.Errorf("%w: %v", ErrPart, err)
	}
	if p.Rank < 0 || p.Size < 1 || p.Size > mostRanks || p.Rank >= p.Size || p.Head.Events < 0 {
		return nil, fmt.Errorf("%w: rank %d of %d, %d events", ErrPart, p.Rank, p.Size, p.Head.Events)
	}
	in := reader{b: rest}
	for last := int64(0); len(p.Events) < p.Head.Events; {
		e := in.event(last)
		if in.short {
			break
		}
		last = e.Begin
		if e.Kind >= kinds || e.Peer < Nobody || int(e.Peer) >= p.Size || e.End < e.Begin {
			return nil, fmt.Errorf("%w: event %d makes no sense", ErrPart, len(p.Events))
		}
		p.Events = append(p.Events, e)
	}
	p.Lost = p.Head.Events - len(p.Events)
	return p, nil
}

// A reader takes numbers from bytes, until they are too short.
type reader struct {
	b     []byte
	short bool
}

// event reads an event. Its beginning is written as the difference from last, the beginning of the event before;
// its end as its duration. r.short tells whether the part was long enough.
func (r *reader) event(last int64) (e Event) {
	e.Kind = Kind(r.byte())
	e.Flags = Flags(r.byte())
	e.Begin = last + r.signed()
	e.End = e.Begin + int64(r.unsigned()&math.MaxInt64)
	e.ID = r.fixed()
	e.Size = r.unsigned()
	e.Peer = int32(r.signed())
	e.Count = uint16(r.unsigned())
	return e
}

// take removes n bytes from the front, or notes that the part is too short.
func (r *reader) take(n int) {
	if n <= 0 || n > len(r.b) {
		r.short = true
		return
	}
	r.b = r.b[n:]
}

func (r *reader) byte() (v byte) {
	if len(r.b) > 0 {
		v = r.b[0]
	}
	r.take(1)
	return v
}

func (r *reader) fixed() (v uint64) {
	if len(r.b) >= 8 {
		v = binary.LittleEndian.Uint64(r.b)
	}
	r.take(8)
	return v
}

func (r *reader) signed() int64 {
	v, n := binary.Varint(r.b)
	r.take(n)
	return v
}

func (r *reader) unsigned() uint64 {
	v, n := binary.Uvarint(r.b)
	r.take(n)
	return v
}
