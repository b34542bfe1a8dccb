package mpi

import (
	"context"
	"encoding/binary"

	"weft"
	"weft/internal/mem"
)

// An access is what is done with pieces of a buffer and of the target's memory.
type access struct {
	kind   accessKind
	update weft.Update
	plain  combine // the same for many words
	old    []byte  // of fetch: where the former values belong
}

type accessKind uint8

const (
	put accessKind = iota
	get
	accumulate
	fetch
	read // fetch that changes nothing
)

// Put writes the elements of src at a place of a member's memory.
func (w *Window[T]) Put(ctx context.Context, src []T, rank, at int) error {
	return w.w.begin(ctx, access{kind: put}, Of(src), rank, at)
}

// PutPart is Put into a section of the member's memory. Src may be a section, too.
func (w *Window[T]) PutPart(ctx context.Context, src Buffer, rank int, at *Section) error {
	return w.w.beginPart(ctx, access{kind: put}, src, rank, at)
}

// Get reads elements of a member's memory, from a place on, into dst.
func (w *Window[T]) Get(ctx context.Context, dst []T, rank, at int) error {
	return w.w.begin(ctx, access{kind: get}, Of(dst), rank, at)
}

// GetPart is Get of a section of the member's memory. Dst may be a section, too.
func (w *Window[T]) GetPart(ctx context.Context, dst Buffer, rank int, at *Section) error {
	return w.w.beginPart(ctx, access{kind: get}, dst, rank, at)
}

// Accumulate updates elements of a member's memory, from a place on, by those of src, each atomically. On one host too
// it may be done with the next flush only.
func (w *Window[T]) Accumulate(ctx context.Context, src []T, rank, at int, u Update) error {
	a, err := w.w.updating(accumulate, u, nil)
	if err != nil {
		return err
	}
	return w.w.begin(ctx, a, Of(src), rank, at)
}

// AccumulatePart is Accumulate for a section of the member's memory. Src may be a section, too.
func (w *Window[T]) AccumulatePart(ctx context.Context, src Buffer, rank int, at *Section, u Update) error {
	a, err := w.w.updating(accumulate, u, nil)
	if err != nil {
		return err
	}
	return w.w.beginPart(ctx, a, src, rank, at)
}

// GetAccumulate is Accumulate, and puts the former values into old, which must be as long as src. With UpdateNoOp src
// is not used.
func (w *Window[T]) GetAccumulate(ctx context.Context, src, old []T, rank, at int, u Update) error {
	if u == UpdateNoOp {
		src = old
	}
	a, err := w.w.updating(fetch, u, mem.Bytes(old))
	if err == nil && len(old) != len(src) {
		err = &LengthError{OpWindow, -1, len(old), len(src)}
	}
	if err != nil {
		return err
	}
	return w.w.begin(ctx, a, Of(src), rank, at)
}

// FetchOp updates the element at a place of a member's memory by v, and returns its former value. It waits for that.
func (w *Window[T]) FetchOp(ctx context.Context, v T, rank, at int, u Update) (old T, err error) {
	a, err := w.w.updating(fetch, u, nil)
	if err != nil {
		return old, err
	}
	t, err := w.w.word(ctx, rank, at)
	if t == nil {
		return old, err
	}
	if t.latches != nil {
		t.latches.lock()
		defer t.latches.unlock()
		t.catchUp()
	}
	b, err := t.remote.FetchUpdate(ctx, 8*at, a.update, bitsOf(v, u))
	return fromBits[T](b), err
}

// CompareSwap replaces the element at a place of a member's memory by v if its bits are those of old, and returns what
// it was. It waits for that.
func (w *Window[T]) CompareSwap(ctx context.Context, old, v T, rank, at int) (seen T, err error) {
	if _, err := w.w.updating(fetch, UpdateReplace, nil); err != nil {
		return seen, err
	}
	t, err := w.w.word(ctx, rank, at)
	if t == nil {
		return seen, err
	}
	if t.latches != nil {
		t.latches.lock()
		defer t.latches.unlock()
		t.catchUp()
	}
	b, err := t.remote.CompareSwap(ctx, 8*at, bitsOf(old, UpdateReplace), bitsOf(v, UpdateReplace))
	return fromBits[T](b), err
}

// bitsOf returns the operand of an update.
func bitsOf[T any](v T, u Update) uint64 {
	if u == UpdateNoOp {
		return 0
	}
	word := [1]T{v}
	return binary.NativeEndian.Uint64(mem.Bytes(word[:]))
}

func fromBits[T any](b uint64) T {
	var word [1]T
	binary.NativeEndian.PutUint64(mem.Bytes(word[:]), b)
	return word[0]
}

// updating returns an access that updates.
func (w *window) updating(k accessKind, u Update, old []byte) (access, error) {
	of, plain, err := u.of(w.kind, w.size)
	switch {
	case u == UpdateReplace && k == accumulate:
		k = fetch // since a write of many words may be seen in part
	case u == UpdateNoOp:
		k = read
	}
	return access{kind: k, update: of, plain: plain, old: old}, err
}

// word returns a member as a target, if it has an element at a place. Of ProcNull it is nil.
func (w *window) word(ctx context.Context, rank, at int) (*target, error) {
	if rank == ProcNull {
		return nil, nil
	}
	if err := w.within(rank, at, at+1); err != nil {
		return nil, err
	}
	return w.reach(ctx, rank)
}

// within returns an error unless a member has the elements from one place to another one.
func (w *window) within(rank, from, to int) error {
	if err := w.c.has(rank); err != nil {
		return err
	}
	if n := w.lengths[rank]; from < 0 || to < from || to > n {
		return &weft.BoundsError{Off: from * w.size, Len: (to - from) * w.size, Size: n * w.size}
	}
	return nil
}

// begin begins an access to elements that lie one behind the other.
func (w *window) begin(ctx context.Context, a access, b Buffer, rank, at int) error {
	if rank == ProcNull {
		return nil
	}
	if err := w.within(rank, at, at+b.count()); err != nil {
		return err
	}
	t, err := w.reach(ctx, rank)
	if err != nil || len(b.b) == 0 {
		return err
	}
	return t.access(ctx, a, at*w.size, b.b)
}

// beginPart begins an access to a section: to each piece that lies together on both sides.
func (w *window) beginPart(ctx context.Context, a access, b Buffer, rank int, at *Section) error {
	switch {
	case b.check() != nil:
		return b.check()
	case b.kind != w.kind || b.size != w.size:
		return &TypeError{w.c.w.p.Rank(), describe(b.kind, uint32(b.size)), describe(w.kind, uint32(w.size))}
	case at.err != nil:
		return at.err
	case at.count != b.count():
		return &LengthError{OpWindow, -1, b.count(), at.count}
	case rank == ProcNull:
		return nil
	}
	if err := w.within(rank, 0, at.end); err != nil {
		return err
	}
	t, err := w.reach(ctx, rank)
	if err != nil {
		return err
	}
	mine := newCursor(b.at, b.count())
	theirs := newCursor(at, at.count)
	for left := at.count; left > 0; {
		n := min(mine.ahead(), theirs.ahead())
		from := mine.advance(n) * w.size
		if err := t.access(ctx, a, theirs.advance(n)*w.size, b.b[from:from+n*w.size]); err != nil {
			return err
		}
		left -= n
	}
	return nil
}

// A cursor is a place among the elements of a section.
type cursor struct {
	s    *Section
	next int // number of the run behind rest
	rest run // of the current run
}

// newCursor returns the first place in a section, or, if that is nil, among n elements that lie together.
func newCursor(s *Section, n int) cursor {
	if s == nil {
		return cursor{rest: run{0, n}}
	}
	return cursor{s: s}
}

// ahead returns how many elements lie together from the place on. There are some.
func (c *cursor) ahead() int {
	for c.rest.n == 0 {
		c.rest = c.s.run(c.next)
		c.next++
	}
	return c.rest.n
}

// advance returns the place, and moves over n elements that lie together.
func (c *cursor) advance(n int) int {
	at := c.rest.at
	c.rest = run{at + n, c.rest.n - n}
	return at
}

// access begins an access to some bytes that lie together.
func (t *target) access(ctx context.Context, a access, off int, b []byte) error {
	r := t.remote
	if t.latches != nil {
		if a.kind == accumulate && len(b) == 8 {
			return t.updateWord(a.update, off, b)
		}
		t.settleWords()
	}
	switch {
	case a.kind == get && r.Direct():
		return r.Pull(ctx, b, off)
	case a.kind == get:
		op, err := r.StartPull(b, off)
		return t.add(ctx, begun{op: op}, err)
	case a.kind >= accumulate && t.latches != nil:
		return t.accessLatched(ctx, a, off, b)
	case a.kind >= fetch:
		return t.fetch(ctx, a, off, b)
	case len(b) <= weft.MaxPut:
		err := r.Update(off, a.update, b)
		if err == nil && !r.Direct() {
			t.put.Store(true)
		}
		return err
	}
	op, err := r.StartUpdate(off, a.update, b)
	return t.add(ctx, begun{op: op}, err)
}

// accessLatched updates words of mapped memory.
func (t *target) accessLatched(ctx context.Context, a access, off int, b []byte) error {
	if len(b) > max(weft.MaxPut, 8*len(t.latches.near)) {
		if err := t.remote.Pull(ctx, nil, off); err != nil {
			return err
		}
		t.latches.update(t.remote.Bytes()[off:], &a, b)
		return nil
	}
	t.latches.lock()
	defer t.latches.unlock()
	if a.kind >= fetch || len(b) > weft.MaxPut {
		return t.fetch(ctx, a, off, b)
	}
	return t.remote.Update(off, a.update, b)
}

// fetch begins to update words one by one. It notes where their former values belong, or puts them there if the memory
// is mapped.
func (t *target) fetch(ctx context.Context, a access, off int, b []byte) error {
	direct := t.remote.Direct()
	for i := 0; i < len(b); i += 8 {
		var old []byte
		if a.old != nil {
			old = a.old[i : i+8]
		}
		v := uint64(0)
		if a.kind != read {
			v = binary.NativeEndian.Uint64(b[i:])
		}
		if direct {
			was, err := t.remote.FetchUpdate(ctx, off+i, a.update, v)
			if err != nil {
				return err
			}
			if old != nil {
				binary.NativeEndian.PutUint64(old, was)
			}
			continue
		}
		op, err := t.remote.StartFetchUpdate(off+i, a.update, v)
		if err := t.add(ctx, begun{op, old}, err); err != nil {
			return err
		}
	}
	return nil
}
