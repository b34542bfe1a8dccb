package rma

import (
	"weft/internal/engine/list"
	"weft/internal/engine/wire"
)

// A stream is what this process sends to one mailbox of a peer in packets: messages
// in order, of which the peer may take all, or stop us at one.
type stream struct {
	ops     list.List[Op] // begun and not answered
	round   uint16
	stopped bool
}

// stream returns the messages under way to a mailbox of the peer.
func (p *peer) stream(region uint32) *stream {
	s := p.streams[region]
	if s == nil {
		s = new(stream)
		if p.streams == nil {
			p.streams = map[uint32]*stream{}
		}
		p.streams[region] = s
	}
	return s
}

// ipush begins a message, at once unless the stream is stopped.
func (p *peer) ipush(op *Op) {
	s := p.stream(op.Region)
	s.ops.Push(&op.link, op)
	if !s.stopped {
		s.send(p, op)
	}
}

// send sends the packets of a message, from its offset on.
func (s *stream) send(p *peer, op *Op) {
	f := wire.IPush{
		End: true, Mode: op.Mode, Round: s.round, Op: op.id, Region: op.Region, Entry: op.Entry, Key: op.Key,
		Off: op.Off, Total: uint64(len(op.Buf)), Tag: op.A,
	}
	p.q.Push(f.Append(p.q.Head()), op.Buf[op.Off:], true)
}

// onIStop stops a stream: everything from a packet on comes to nothing.
func (l *Layer) onIStop(from int, f wire.IStop) {
	p := l.peer(from)
	s := p.streams[f.Region]
	if s == nil || s.stopped || s.round != f.Round {
		l.Stats.Dropped++
		return
	}
	s.stopped = true
	for op := s.ops.First(); op != nil; op = op.link.Next() {
		p.q.Drop(wire.TypeIPush, op.id)
		if op.id == f.Op && f.Off < uint64(len(op.Buf)) { // of all of it there would be an answer
			op.Off = f.Off
		}
	}
}

// onIGo begins again, in a new round.
func (l *Layer) onIGo(from int, f wire.IGo) {
	p := l.peer(from)
	s := p.streams[f.Region]
	if s == nil || !s.stopped || s.round != f.Round {
		l.Stats.Dropped++
		return
	}
	s.stopped = false
	s.round++
	for op := s.ops.First(); op != nil; op = op.link.Next() {
		s.send(p, op)
	}
}

// answeredIPush takes a message off its stream.
func (p *peer) answeredIPush(op *Op) {
	if s := p.streams[op.Region]; s != nil {
		s.ops.Remove(&op.link)
	}
}

// Knock tells a peer that something was written to its mailbox.
func (l *Layer) Knock(rank int, region uint32) {
	if l.gone[rank] == nil {
		p := l.peer(rank)
		p.q.Push(wire.Knock{Region: region}.Append(p.q.Head()), nil, true)
	}
}
