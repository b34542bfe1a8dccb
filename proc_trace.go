package weft

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"weft/internal/amt"
	"weft/internal/driver"
	"weft/internal/waitgraph"
)

// envTrace names the file into which each rank writes, when it leaves, how much it has sent
// to each other rank. The rank is appended to the name.
const envTrace = "WEFT_TRACE"

// envCount makes a rank count what it sends to each other rank, and report that together with
// what it waits for: for the page of weft run -http.
const envCount = "WEFT_COUNT"

// startTrace makes the process count what it sends, if the environment asks for it.
func (p *Proc) startTrace() (err error) {
	name := os.Getenv(envTrace)
	if name == "" {
		if os.Getenv(envCount) != "" {
			p.traceInto(nil)
		}
		return nil
	}
	if p.trace, err = amt.CreateTracer(p.sender(), name); err != nil {
		return fmt.Errorf("weft: %s: %w", envTrace, err)
	}
	return nil
}

// traceInto makes the process count what it sends, and write it when it is closed.
func (p *Proc) traceInto(w io.Writer) { p.trace = amt.NewTracer(p.sender(), w) }

// sender describes this rank to a trace.
func (p *Proc) sender() amt.Part {
	return amt.Part{Rank: p.job.Rank, Size: p.job.Size, Job: fmt.Sprintf("%x", p.job.ID),
		Program: filepath.Base(os.Args[0])}
}

// countFor makes the process call began at each operation that Fault.After counts.
func (p *Proc) countFor(began func()) {
	if p.trace == nil {
		p.traceInto(nil)
	}
	p.trace.Began = began
}

// endTrace writes what was counted.
func (p *Proc) endTrace() error {
	if p.trace == nil {
		return nil
	}
	if err := p.trace.Close(); err != nil {
		return fmt.Errorf("weft: %s: %w", envTrace, err)
	}
	return nil
}

// count counts a message of n bytes to a rank, if there is a trace.
func (p *Proc) count(to int, kind amt.Kind, n int) {
	if p.trace != nil {
		p.trace.Add(to, kind, n)
	}
}

// reportSent adds to a report what was sent to each rank, and over which transport.
func (p *Proc) reportSent(r *waitgraph.Report) {
	if p.trace == nil {
		return
	}
	peers := map[int]*driver.Peer{}
	for _, d := range p.node.Peers() {
		peers[d.Rank] = d
	}
	paths := map[string]uint64{}
	p.trace.Sent(func(to int, messages, bytes uint64) {
		path := ""
		if d := peers[to]; d != nil {
			peer := p.peer(d)
			path = string(peer.Transport) + ": " + peer.Why
		}
		if _, ok := paths[path]; !ok {
			paths[path] = uint64(len(r.Paths))
			r.Paths = append(r.Paths, path)
		}
		r.Sent = append(r.Sent, waitgraph.Sent{uint64(to), messages, bytes, paths[path]})
	})
}
