package mpi

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"slices"
	"sort"
)

// blockBytes is the length of blocks that are written whole, and stageBytes how much a member writes at a time for
// all.
const (
	blockBytes = 4096
	stageBytes = 4 << 20
)

// A stage is a part of the file for each of the writers, which is exchanged at once.
type stage struct {
	f        *File
	from, to int64   // of the first writer's part
	step     int64   // from one writer's part to that of the next one
	mine     []piece // in ascending order
}

// stages calls do for each stage of a collective access: the range of the file that the members access is divided among
// the writers, at blocks.
func (f *File) stages(ctx context.Context, mine []piece, do func(s *stage) error) error {
	edges := []int64{math.MinInt64, math.MinInt64} // -first, last
	for _, p := range mine {
		edges[0] = max(edges[0], -p.off)
		edges[1] = max(edges[1], p.off+int64(len(p.bytes)))
	}
	if err := AllReduce(ctx, f.c, edges, Max); err != nil || edges[1] == math.MinInt64 {
		return err
	}
	first := -edges[0] / blockBytes * blockBytes
	step := (edges[1]-first)/int64(len(f.writers)) + 1
	step = (step + blockBytes - 1) / blockBytes * blockBytes
	var failed error
	for at := int64(0); at < step; at += stageBytes {
		s := &stage{f, first + at, first + min(at+stageBytes, step), step, mine}
		if err := do(s); err != nil && failed == nil {
			failed = err // the others go on, and so does this one
		}
		if f.c.revokedBy() != nil {
			return f.c.revokedBy()
		}
	}
	return f.agree(ctx, failed)
}

// revokedBy returns why the communicator is over, or nil.
func (c *Comm) revokedBy() error {
	c.w.mu.Lock()
	defer c.w.mu.Unlock()
	return c.over()
}

// part calls do for each of this member's bytes that a writer accesses in the stage.
func (s *stage) part(writer int, do func(p piece)) {
	from := s.from + int64(writer)*s.step
	to := s.to + int64(writer)*s.step
	first := sort.Search(len(s.mine), func(i int) bool { return s.mine[i].off+int64(len(s.mine[i].bytes)) > from })
	for _, p := range s.mine[first:] {
		if p.off >= to {
			return
		}
		a := max(from-p.off, 0)
		b := min(to-p.off, int64(len(p.bytes)))
		if a < b {
			do(piece{p.off + a, p.bytes[a:b]})
		}
	}
}

// A place of a piece travels as its offset and its length, 8 bytes each.
const placeBytes = 16

// takePlace returns the offset and the length of the piece at the beginning of b, and what follows.
func takePlace(b []byte) (off int64, n int, rest []byte, err error) {
	if len(b) < placeBytes {
		return 0, 0, nil, errPiece
	}
	off = int64(binary.LittleEndian.Uint64(b))
	length := binary.LittleEndian.Uint64(b[8:])
	if off < 0 || length > stageBytes {
		return 0, 0, nil, errPiece
	}
	return off, int(length), b[placeBytes:], nil
}

var errPiece = errors.New("mpi: a member asks for a piece of a file that cannot be")

func appendPlace(b []byte, p piece) []byte {
	b = binary.LittleEndian.AppendUint64(b, uint64(p.off))
	return binary.LittleEndian.AppendUint64(b, uint64(len(p.bytes)))
}

// exchange sends bytes to each member, and returns what comes from each.
func (f *File) exchange(ctx context.Context, out [][]byte) ([][]byte, error) {
	n := f.c.group.n
	lengths := make([]int, n)
	coming := make([]int, n)
	for i := range out {
		lengths[i] = len(out[i])
	}
	if err := f.c.AllToAll(ctx, Of(lengths), Of(coming)); err != nil {
		return nil, err
	}
	in := make([][]byte, n)
	sent := make([]Buffer, n)
	received := make([]Buffer, n)
	for i := range in {
		in[i] = make([]byte, coming[i])
		sent[i] = Of(out[i])
		received[i] = Of(in[i])
	}
	return in, f.c.AllToAllV(ctx, sent, received)
}

// WriteAtAll is WriteAt by all members at once (MPI_File_write_at_all). Where the pieces of several members overlap,
// one of them is written.
func (f *File) WriteAtAll(ctx context.Context, b Buffer, at int) error {
	m := newRoom()
	defer m.put()
	bytes, wrong := use(&b, at, m)
	if err := f.agree(ctx, wrong); err != nil {
		return err
	}
	var mine []piece
	if len(bytes) > 0 {
		mine = f.pieces(bytes, b.size, at)
	}
	return f.stages(ctx, mine, func(s *stage) error {
		out := make([][]byte, f.c.group.n)
		for i, writer := range f.writers {
			s.part(i, func(p piece) { out[writer] = append(appendPlace(out[writer], p), p.bytes...) })
		}
		in, err := f.exchange(ctx, out)
		if err != nil {
			return err
		}
		var all []piece
		for _, b := range in {
			for len(b) > 0 {
				off, n, rest, err := takePlace(b)
				if err != nil || n > len(rest) {
					return errPiece
				}
				all = append(all, piece{off, rest[:n]})
				b = rest[n:]
			}
		}
		return f.write(all)
	})
}

// write writes pieces. One call of the kernel writes all pieces that touch each other.
func (f *File) write(all []piece) error {
	slices.SortStableFunc(all, func(a, b piece) int { return cmp.Compare(a.off, b.off) })
	for len(all) > 0 {
		end := all[0].off
		n := 0
		for n < len(all) && all[n].off <= end {
			end = max(end, all[n].off+int64(len(all[n].bytes)))
			n++
		}
		together := all[0].bytes
		if n > 1 { // a piece that is alone is written from where it is
			together = make([]byte, end-all[0].off)
			copy(together, all[0].bytes)
		}
		for _, p := range all[1:n] {
			copy(together[p.off-all[0].off:], p.bytes)
		}
		if _, err := f.f.WriteAt(together, all[0].off); err != nil {
			return err
		}
		all = all[n:]
	}
	return nil
}

// ReadAtAll is ReadAt by all members at once (MPI_File_read_at_all).
func (f *File) ReadAtAll(ctx context.Context, b Buffer, at int) (n int, err error) {
	m := newRoom()
	defer m.put()
	bytes, wrong := use(&b, at, m)
	if err := f.agree(ctx, wrong); err != nil {
		return 0, err
	}
	var mine []piece
	if len(bytes) > 0 {
		mine = f.pieces(bytes, b.size, at)
	}
	got := 0
	err = f.stages(ctx, mine, func(s *stage) error {
		out := make([][]byte, f.c.group.n)
		for i, writer := range f.writers {
			s.part(i, func(p piece) { out[writer] = appendPlace(out[writer], p) })
		}
		asked, err := f.exchange(ctx, out)
		if err != nil {
			return err
		}
		answers, failed := f.answers(asked)
		in, err := f.exchange(ctx, answers)
		if err != nil {
			return err
		}
		for i, writer := range f.writers {
			s.part(i, func(p piece) {
				b := in[writer]
				if len(b) < 8 || binary.LittleEndian.Uint64(b) > uint64(len(b)-8) {
					failed = errors.Join(failed, errPiece)
					return
				}
				n := int(binary.LittleEndian.Uint64(b))
				got += copy(p.bytes, b[8:8+n])
				in[writer] = b[8+n:]
			})
		}
		return failed
	})
	if err != nil {
		return 0, err
	}
	if b.at != nil {
		b.unpack(bytes[:got])
	}
	if b.size > 0 {
		n = got / b.size
	}
	if got < len(bytes) {
		err = io.EOF
	}
	return n, err
}

// answers reads what members have asked for: of each piece as many bytes as the file has, behind their number.
func (f *File) answers(asked [][]byte) (out [][]byte, failed error) {
	out = make([][]byte, len(asked))
	for i, b := range asked {
		for len(b) > 0 {
			off, length, rest, err := takePlace(b)
			if err != nil {
				return out, err
			}
			b = rest
			got := make([]byte, length)
			n, err := f.f.ReadAt(got, off)
			if err != nil && !errors.Is(err, io.EOF) && failed == nil {
				failed = err
			}
			out[i] = append(binary.LittleEndian.AppendUint64(out[i], uint64(n)), got[:n]...)
		}
	}
	return out, failed
}
