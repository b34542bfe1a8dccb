package weft

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync/atomic"

	"weft/internal/amt"
	"weft/internal/driver"
	"weft/internal/waitgraph"
)

// envTrace names the file into which each rank writes, when it leaves, how much it has sent
// to each other rank. The rank is appended to the name.
const envTrace = "WEFT_TRACE"

// A tracer counts what a rank sends, at the calls of the public API. Any goroutine may use it.
type tracer struct {
	rows []atomic.Pointer[traceRow] // by receiver; made when something is first sent to it
	out  io.Writer
	file io.Closer // out, if it is ours to close

	began func() // is called at each operation, for Fault.After; or nil
}

type traceRow [amt.Kinds]struct{ messages, bytes, largest atomic.Uint64 }

// add counts a message of n bytes.
func (t *tracer) add(to int, kind amt.Kind, n int) {
	if t.began != nil {
		t.began()
	}
	row := t.rows[to].Load()
	if row == nil {
		t.rows[to].CompareAndSwap(nil, new(traceRow))
		row = t.rows[to].Load()
	}
	c := &row[kind]
	c.messages.Add(1)
	c.bytes.Add(uint64(n))
	for {
		l := c.largest.Load()
		if uint64(n) <= l || c.largest.CompareAndSwap(l, uint64(n)) {
			return
		}
	}
}

// part returns what was counted.
func (t *tracer) part(p *Proc) amt.Part {
	part := amt.Part{Rank: p.job.Rank, Size: p.job.Size, Job: fmt.Sprintf("%x", p.job.ID),
		Program: filepath.Base(os.Args[0])}
	for to := range t.rows {
		row := t.rows[to].Load()
		if row == nil {
			continue
		}
		for kind := range row {
			c := &row[kind]
			if n := c.messages.Load(); n > 0 {
				count := amt.Count{Messages: n, Bytes: c.bytes.Load(), Largest: c.largest.Load()}
				part.Rows = append(part.Rows, amt.Row{To: to, Kind: amt.Kind(kind), Count: count})
			}
		}
	}
	return part
}

// startTrace makes the process count what it sends, if the environment asks for
// it. The file is made now, so that the file of an earlier run does not remain.
func (p *Proc) startTrace() error {
	name := os.Getenv(envTrace)
	if name == "" {
		if os.Getenv(envCount) != "" {
			p.traceInto(nil)
		}
		return nil
	}
	f, err := createFresh(fmt.Sprintf("%s.%d", name, p.job.Rank))
	if err != nil {
		return fmt.Errorf("weft: %s: %w", envTrace, err)
	}
	if p.job.Rank == 0 { // an earlier run may have had more ranks
		for rank := p.job.Size; os.Remove(fmt.Sprintf("%s.%d", name, rank)) == nil; rank++ {
		}
	}
	p.traceInto(f)
	p.trace.file = f
	return nil
}

// traceInto makes the process count what it sends, and write it when it is closed.
func (p *Proc) traceInto(w io.Writer) {
	p.trace = &tracer{rows: make([]atomic.Pointer[traceRow], p.job.Size), out: w}
}

// envCount makes a rank count what it sends to each other rank, and report that together with
// what it waits for: for the page of weft run -http.
const envCount = "WEFT_COUNT"

// reportSent adds to a report what was sent to each rank, and over which transport.
func (p *Proc) reportSent(r *waitgraph.Report) {
	if p.trace == nil {
		return
	}
	peers := map[int]*driver.Peer{}
	for _, d := range p.node.Peers() {
		peers[d.Rank] = d
	}
	ways := map[string]uint64{}
	for to := range p.trace.rows {
		row := p.trace.rows[to].Load()
		if row == nil {
			continue
		}
		sent := waitgraph.Sent{0: uint64(to)}
		for kind := range row {
			sent[1] += row[kind].messages.Load()
			sent[2] += row[kind].bytes.Load()
		}
		way := ""
		if d := peers[to]; d != nil {
			peer := p.peer(d)
			way = string(peer.Transport) + ": " + peer.Why
		}
		if _, ok := ways[way]; !ok {
			ways[way] = uint64(len(r.Paths))
			r.Paths = append(r.Paths, way)
		}
		sent[3] = ways[way]
		r.Sent = append(r.Sent, sent)
	}
}

// countFor makes the process call began at each operation that Fault.After counts.
func (p *Proc) countFor(began func()) {
	if p.trace == nil {
		p.traceInto(nil)
	}
	p.trace.began = began
}

// endTrace writes what was counted.
func (p *Proc) endTrace() error {
	if p.trace == nil || p.trace.out == nil {
		return nil
	}
	part := p.trace.part(p)
	err := part.Write(p.trace.out)
	if p.trace.file != nil {
		err = errors.Join(err, p.trace.file.Close())
	}
	if err != nil {
		return fmt.Errorf("weft: %s: %w", envTrace, err)
	}
	return nil
}

// count counts a message of n bytes to a rank, if there is a trace.
func (p *Proc) count(to int, kind amt.Kind, n int) {
	if p.trace != nil {
		p.trace.add(to, kind, n)
	}
}

// Collective returns a second handle of the same port. What is sent through it is part of
// an operation of all ranks, as those of package coll are: a trace (WEFT_TRACE) counts it
// apart from what is sent to partners. Nothing else differs.
func (q *Port) Collective() *Port {
	c := *q
	c.kind = amt.Collective
	return &c
}
