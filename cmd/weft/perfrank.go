package main

import (
	"context"
	"encoding/binary"
	"fmt"
	"runtime"
	"slices"
	"time"

	"weft"
)

// A perfRow is the result for one size: a line of -json.
type perfRow struct {
	Test      string  `json:"test"`
	Op        string  `json:"op"`
	Size      int     `json:"size"`
	Transport string  `json:"transport"`
	N         int     `json:"n"`                   // round trips, messages or accesses
	Median    float64 `json:"p50_us,omitempty"`    // of latency
	P99       float64 `json:"p99_us,omitempty"`    // of latency
	MBs       float64 `json:"mb_s,omitempty"`      // of bandwidth and rate: 10^6 bytes per second
	Rate      float64 `json:"million_s,omitempty"` // of bandwidth and rate
}

// A pair is one of the two ranks of a measurement. Rank 0 keeps the time.
type pair struct {
	ctx  context.Context
	p    *weft.Proc
	port *weft.Port
	mine *weft.Region // that the peer writes and reads
	far  *weft.Remote // the peer's
	peer int
	turn uint64 // of a round trip by writes: its number, which stands in the last word written
}

// measurePair measures every size, and returns the results at rank 0. Both ranks call it.
func measurePair(ctx context.Context, p *weft.Proc, spec perfSpec) (rows []perfRow, err error) {
	if p.Size() != 2 {
		return nil, fmt.Errorf("perf: it takes a job of 2 ranks, not %d", p.Size())
	}
	m := &pair{ctx: ctx, p: p, peer: 1 - p.Rank()}
	if m.port, err = p.OpenPort(1, nil); err != nil {
		return nil, err
	}
	room := slices.Max(spec.Sizes) + 16 // a multiple of 8 follows the longest access
	if m.mine, err = p.OpenRegion(ctx, "perf", room, nil); err != nil {
		return nil, err
	}
	if m.far, err = m.mine.At(ctx, m.peer); err != nil {
		return nil, err
	}
	for _, size := range spec.Sizes {
		row := perfRow{Test: spec.Test, Op: spec.Op, Size: size}
		if err := m.measure(&row); err != nil {
			return nil, fmt.Errorf("perf %s -op %s -size %d: %w", spec.Test, spec.Op, size, err)
		}
		for _, peer := range p.Peers() {
			if peer.Rank == m.peer {
				row.Transport = string(peer.Transport)
			}
		}
		rows = append(rows, row)
		if err := m.meet(); err != nil {
			return nil, err
		}
	}
	return rows, nil
}

// meet waits for the other rank.
func (m *pair) meet() error {
	if err := m.port.Send(m.ctx, m.peer, nil); err != nil {
		return err
	}
	_, _, err := m.port.RecvInto(m.ctx, nil)
	return err
}

// measure measures one size.
func (m *pair) measure(row *perfRow) error {
	buf := make([]byte, row.Size)
	for i := range buf {
		buf[i] = 1 // untouched memory may all be one page of zeros
	}
	runtime.GC()
	if row.Test == "latency" {
		return m.latency(row, buf)
	}
	return m.stream(row, buf)
}

// long is the size from which fewer operations are enough.
const long = 32 << 10

// latency measures round trips, or of pull whole accesses. The first tenth is not counted.
func (m *pair) latency(row *perfRow, buf []byte) error {
	row.N = 20000
	if row.Size > long {
		row.N = 1000
	}
	there, back := m.ways(row.Op, buf)
	if err := m.meet(); err != nil { // both words are 0 before the first write
		return err
	}
	half := 2.0
	if row.Op == "pull" {
		half = 1
	}
	if m.p.Rank() == 1 {
		for i := 0; row.Op != "pull" && i < row.N/10+row.N; i++ {
			if err := back(); err != nil {
				return err
			}
			if err := there(); err != nil {
				return err
			}
		}
		return nil
	}
	took := make([]float64, 0, row.N)
	for i := range row.N/10 + row.N {
		begun := m.p.Now()
		if err := there(); err != nil {
			return err
		}
		if err := back(); err != nil {
			return err
		}
		if i >= row.N/10 {
			took = append(took, float64(m.p.Now()-begun)/float64(time.Microsecond)/half)
		}
	}
	slices.Sort(took)
	row.Median = took[len(took)/2]
	row.P99 = took[len(took)*99/100]
	return nil
}

// ways returns how a rank reaches the other, and how it notices that the other has reached it.
func (m *pair) ways(op string, buf []byte) (there, back func() error) {
	switch op {
	case "send":
		return func() error { return m.port.Send(m.ctx, m.peer, buf) },
			func() error { _, _, err := m.port.RecvInto(m.ctx, buf); return err }
	case "pull":
		return func() error { return m.far.Pull(m.ctx, buf, 0) }, func() error { return nil }
	}
	word := (len(buf) + 7) &^ 7 // behind the bytes: writes to a peer take effect in order
	var number [8]byte
	m.mine.Store(word, 0)
	m.turn = 0
	seen := uint64(0)
	there = func() error {
		m.turn++
		binary.LittleEndian.PutUint64(number[:], m.turn)
		if len(buf) > 8 {
			if err := m.write(op, 0, buf); err != nil {
				return err
			}
		}
		return m.write(op, word, number[:])
	}
	back = func() (err error) {
		seen, err = m.mine.Await(m.ctx, word, seen)
		return err
	}
	return there, back
}

// write writes to the peer's memory.
func (m *pair) write(op string, at int, b []byte) error {
	if op == "put" {
		return m.far.Put(at, b)
	}
	return m.far.Push(m.ctx, at, b)
}

// stream measures operations one after the other from rank 0 to rank 1, which answers when all have come. A tenth goes
// before them, and is not counted.
func (m *pair) stream(row *perfRow, buf []byte) error {
	row.N = 200000
	if row.Size > long {
		row.N = max(1<<30/row.Size, 16)
	}
	if err := m.run(row.N/10, row.Op, buf); err != nil {
		return err
	}
	begun := m.p.Now()
	if err := m.run(row.N, row.Op, buf); err != nil {
		return err
	}
	took := (m.p.Now() - begun).Seconds()
	row.Rate = float64(row.N) / took / 1e6
	row.MBs = row.Rate * float64(row.Size)
	return nil
}

// once is one operation of a stream.
func (m *pair) once(op string, buf []byte) error {
	switch op {
	case "send":
		return m.port.Send(m.ctx, m.peer, buf)
	case "pull":
		return m.far.Pull(m.ctx, buf, 0)
	}
	return m.write(op, 0, buf)
}

// run does n operations from rank 0 to rank 1, and waits until all have come.
func (m *pair) run(n int, op string, buf []byte) error {
	for range n {
		var err error
		switch {
		case m.p.Rank() == 0:
			err = m.once(op, buf)
		case op == "send":
			_, _, err = m.port.RecvInto(m.ctx, buf)
		}
		if err != nil {
			return err
		}
	}
	return m.meet() // a message arrives after the effect of all writes before it
}
