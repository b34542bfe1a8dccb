package mpi

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"math/bits"

	"weft/internal/mem"
)

// A stage is a part of the file for each writer, which lies in its memory while members put their pieces together, or
// take them from there. There are two rows of stages: members fill the one while a writer writes the other.
//
// A row has the bytes, and for each member what it has put there: a mark for each block of the file, and a bit for each
// byte of a block that the member has put there in part.
type stage struct {
	f    *File
	row  int
	from int64 // of the first writer's part, a multiple of blockBytes; that of the next writer lies behind
}

const (
	blockBytes  = 4096 // of blocks that are written whole
	stageBytes  = 1 << 20
	stageBlocks = stageBytes / blockBytes
	longBytes   = 64 << 10 // a member writes so many bytes of whole blocks itself
	rows        = 2
	stagesAt    = blockBytes // in the memory of a writer: each block of a stage is in one page
)

// rowBytes returns the length of a row for some members.
func rowBytes(members int) int {
	n := stageBytes + members*(stageBlocks+stageBytes/8)
	return (n + blockBytes - 1) / blockBytes * blockBytes
}

// The marks of a block.
const (
	unmarked = iota
	partly   // the bits say which bytes
	wholly
)

// marks are what a member has put into a stage.
type marks struct {
	block [stageBlocks]byte
	bytes []byte // a bit for each
}

// set marks the bytes of a stage from one place to another.
func (m *marks) set(from, to int) {
	for from < to {
		k := from / blockBytes
		end := min(to, (k+1)*blockBytes)
		switch {
		case end-from == blockBytes:
			m.block[k] = wholly
		case m.block[k] == unmarked:
			m.block[k] = partly
			clear(m.bytes[k*blockBytes/8:][:blockBytes/8])
		}
		if m.block[k] == partly {
			setBits(m.bytes, from, end)
		}
		from = end
	}
}

// setBits sets the bits from one to another.
func setBits(b []byte, from, to int) {
	for ; from < to && from&7 != 0; from++ {
		b[from>>3] |= 1 << (from & 7)
	}
	for ; from+8 <= to; from += 8 {
		b[from>>3] = 0xff
	}
	for ; from < to; from++ {
		b[from>>3] |= 1 << (from & 7)
	}
}

// at returns where in a writer's memory the row begins.
func (s *stage) at() int { return stagesAt + s.row*rowBytes(s.f.c.group.n) }

// marksAt returns where in a writer's memory a member's marks begin, and where its bits do.
func (s *stage) marksAt(member int) (marks, bytes int) {
	n := s.f.c.group.n
	return s.at() + stageBytes + member*stageBlocks, s.at() + stageBytes + n*stageBlocks + member*stageBytes/8
}

// part returns where in the file the part of a writer begins.
func (s *stage) part(i int) int64 { return s.from + int64(i)*stageBytes }

// end returns where in the file the stage ends.
func (s *stage) end() int64 { return s.part(len(s.f.writers)) }

// fill puts this member's pieces into the stage. Of a long piece it writes the blocks itself.
func (s *stage) fill(ctx context.Context, w *walk) error {
	m := &s.f.marks
	if m.bytes == nil {
		m.bytes = mem.Aligned(stageBytes / 8)
	}
	for i, writer := range s.f.writers {
		from := s.part(i)
		t, err := s.f.memory.w.reach(ctx, writer)
		if err != nil {
			return err
		}
		clear(m.block[:])
		for p, ok := w.take(from + stageBytes); ok; p, ok = w.take(from + stageBytes) {
			if err := s.put(ctx, t, from, p); err != nil {
				return err
			}
		}
		if err := errors.Join(s.putMarks(ctx, t), t.complete(ctx)); err != nil { // then the marks can change
			return err
		}
	}
	return nil
}

// put puts a piece into a writer's part, and marks its bytes; but long blocks it writes.
func (s *stage) put(ctx context.Context, t *target, from int64, p piece) error {
	before := int(-p.off & (blockBytes - 1))
	if blocks := (len(p.bytes) - before) &^ (blockBytes - 1); blocks >= longBytes {
		if err := s.f.writeWhole(piece{p.off + int64(before), p.bytes[before : before+blocks]}); err != nil {
			return err
		}
		behind := piece{p.off + int64(before+blocks), p.bytes[before+blocks:]}
		if p.bytes = p.bytes[:before]; len(behind.bytes) > 0 {
			if err := s.put(ctx, t, from, behind); err != nil {
				return err
			}
		}
	}
	if len(p.bytes) == 0 {
		return nil
	}
	off := int(p.off - from)
	s.f.marks.set(off, off+len(p.bytes))
	return s.move(ctx, t, put, s.at()+off, p.bytes)
}

// writeWhole writes whole blocks. Before that it reads a byte of each page that they lie in: if a page were not there
// when the kernel has copied half a block, a process that is being killed would not write the other half.
func (f *File) writeWhole(p piece) error {
	there := byte(0)
	for i := 0; i < len(p.bytes); i += blockBytes {
		there |= p.bytes[i]
	}
	f.there = there | p.bytes[len(p.bytes)-1]
	_, err := f.f.WriteAt(p.bytes, p.off)
	return err
}

// putMarks tells a writer what this member has put into its part.
func (s *stage) putMarks(ctx context.Context, t *target) error {
	m := &s.f.marks
	marks, bytes := s.marksAt(s.f.c.me)
	if err := s.move(ctx, t, put, marks, m.block[:]); err != nil {
		return err
	}
	for k, mark := range m.block {
		if mark == partly {
			at := k * blockBytes / 8
			if err := s.move(ctx, t, put, bytes+at, m.bytes[at:at+blockBytes/8]); err != nil {
				return err
			}
		}
	}
	return nil
}

// write writes what members have put into this member's part, if it is a writer.
func (s *stage) write() error {
	if s.f.writer < 0 {
		return nil
	}
	r := stretch{s: s, memory: s.f.memory.w.region.Bytes()}
	for k := range stageBlocks {
		switch r.mark(k) {
		case wholly:
			r.add(k*blockBytes, (k+1)*blockBytes)
		case partly:
			for at := k * blockBytes; at < (k+1)*blockBytes; at += 64 {
				r.addBits(at, r.bits(at))
			}
		}
	}
	r.end()
	return r.err
}

// A stretch is bytes of a writer's part that lie together, which one call of the kernel writes.
type stretch struct {
	s        *stage
	memory   []byte
	from, to int
	err      error
}

// mark returns the greatest mark of a block.
func (r *stretch) mark(k int) (mark byte) {
	at, end := r.s.marksAt(0)
	for at += k; at < end && mark < wholly; at += stageBlocks {
		mark = max(mark, r.memory[at])
	}
	return mark
}

// bits returns which of 64 bytes members have put there.
func (r *stretch) bits(at int) (set uint64) {
	marks, bytes := r.s.marksAt(0)
	for range r.s.f.c.group.n {
		if r.memory[marks+at/blockBytes] == partly {
			set |= binary.LittleEndian.Uint64(r.memory[bytes+at/8:])
		}
		marks += stageBlocks
		bytes += stageBytes / 8
	}
	return set
}

// add makes bytes behind the stretch a part of it, if they lie together; else it writes the stretch, and begins a new
// one.
func (r *stretch) add(from, to int) {
	if from != r.to {
		r.end()
		r.from = from
	}
	r.to = to
}

// addBits adds those of 64 bytes whose bits are set.
func (r *stretch) addBits(at int, set uint64) {
	for set != 0 {
		first := bits.TrailingZeros64(set)
		n := bits.TrailingZeros64(^(set >> first))
		r.add(at+first, at+first+n)
		set &^= (1<<n - 1) << first
	}
}

// end writes the stretch.
func (r *stretch) end() {
	if r.to == r.from {
		return
	}
	b := r.memory[r.s.at():][r.from:r.to]
	if _, err := r.s.f.f.WriteAt(b, r.s.part(r.s.f.writer)+int64(r.from)); r.err == nil {
		r.err = err
	}
}

// read reads this member's part up to a place of the file, if it is a writer. It returns where the file ends, or never.
func (s *stage) read(to int64) (ends int64, err error) {
	if s.f.writer < 0 || s.part(s.f.writer) >= to {
		return never, nil
	}
	from := s.part(s.f.writer)
	n, err := s.f.f.ReadAt(s.f.memory.w.region.Bytes()[s.at():][:min(to-from, stageBytes)], from)
	if errors.Is(err, io.EOF) {
		return from + int64(n), nil
	}
	return never, err
}

// fetch takes this member's pieces, as far as the file has them, and returns how many bytes these are.
func (s *stage) fetch(ctx context.Context, w *walk, ends int64) (got int, err error) {
	for i, writer := range s.f.writers {
		t, err := s.f.memory.w.reach(ctx, writer)
		if err != nil {
			return got, err
		}
		from := s.part(i)
		for p, ok := w.take(from + stageBytes); ok; p, ok = w.take(from + stageBytes) {
			if p.off >= ends {
				continue
			}
			p.bytes = p.bytes[:min(int64(len(p.bytes)), ends-p.off)]
			got += len(p.bytes)
			if err := s.move(ctx, t, get, s.at()+int(p.off-from), p.bytes); err != nil {
				return got, err
			}
		}
	}
	return got, s.f.memory.w.flushAll(ctx)
}

// move writes bytes to a writer's memory, or reads them from there.
func (s *stage) move(ctx context.Context, t *target, kind accessKind, at int, b []byte) error {
	mapped := t.remote.Bytes()
	switch {
	case mapped == nil:
		return t.access(ctx, access{kind: kind}, at, b)
	case kind == get:
		copy(b, mapped[at:])
	default:
		copy(mapped[at:], b)
	}
	return nil
}
