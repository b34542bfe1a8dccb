package mpi

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"os"
	"slices"
)

// A File is a file that all members of a communicator read and write (MPI_File). Every member sees the elements that
// its view selects, one behind the other; places are counted in elements of the Buffer that is read or written. Without
// a view it sees all of them. The hosts of the members must have the file under the same name, in a file system that
// shows each what the others have written.
//
// The calls whose names end with All are collective: the members exchange their parts first, so that one member of each
// host reads and writes long pieces. Each block of 4096 bytes, at a multiple of that, which is written as a whole, is
// afterwards what has been written or what was there before, also if members are killed meanwhile. The other calls are
// for any number of goroutines.
type File struct {
	c      *Comm // the file's own
	f      *os.File
	view   *Section // nil: all elements
	base   int64    // where the view begins, in bytes
	extent int      // after how many elements the view repeats

	next    *Window[int64] // the shared pointer, at member 0, in elements
	writers []int          // the first members of the hosts, which read and write for all in collective calls
	at      []int64        // of the shared pointer: the place that ReadOrdered and WriteOrdered share
}

// OpenFile opens a file, with the flags and the permissions of os.OpenFile. All members call it; the first one makes
// the file if it is to be made.
func OpenFile(ctx context.Context, c *Comm, name string, flags int, perm os.FileMode) (*File, error) {
	w, err := NewWindow[int64](ctx, c, 1)
	if err != nil {
		return nil, err
	}
	f := &File{c: w.Comm(), next: w, at: make([]int64, 1)}
	if c.me == 0 {
		f.f, err = os.OpenFile(name, flags, perm)
	}
	if err = f.agree(ctx, err); err == nil {
		if c.me != 0 {
			f.f, err = os.OpenFile(name, flags&^(os.O_TRUNC|os.O_EXCL), perm)
		}
		err = f.agree(ctx, err)
	}
	if err == nil {
		err = f.findHosts(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, f.close(), w.Free(ctx))
	}
	return f, nil
}

// findHosts finds the first member of each host.
func (f *File) findHosts(ctx context.Context) error {
	h := fnv.New64a()
	h.Write([]byte(f.c.w.p.Host()))
	hosts := make([]uint64, f.c.group.n)
	err := f.c.AllGather(ctx, Of([]uint64{h.Sum64()}), Of(hosts))
	for place, host := range hosts {
		if slices.Index(hosts, host) == place {
			f.writers = append(f.writers, place)
		}
	}
	return err
}

// agree returns an error at all members if one of them has one.
func (f *File) agree(ctx context.Context, err error) error {
	failed := []int{0}
	if err != nil {
		failed[0] = f.c.me + 1
	}
	if e := AllReduce(ctx, f.c, failed, Max); e != nil {
		return e
	}
	if err == nil && failed[0] > 0 {
		err = fmt.Errorf("mpi: rank %d could not access the file", f.c.group.at(failed[0]-1))
	}
	return err
}

func (f *File) close() error {
	if f.f == nil {
		return nil
	}
	return f.f.Close()
}

// Close waits until all members have called it, and closes the file.
func (f *File) Close(ctx context.Context) error { return errors.Join(f.next.Free(ctx), f.close()) }

// Sync has the file system write what this member has written, and waits until all members have called it.
func (f *File) Sync(ctx context.Context) error { return f.agree(ctx, f.f.Sync()) }

// SetView says which elements this member sees: from base bytes on those of a section in ascending order, which repeats
// every extent elements; of a nil section all. Members may have different views. The shared pointer is at the beginning
// afterwards, for which all members call it (MPI_File_set_view).
func (f *File) SetView(ctx context.Context, base int64, s *Section, extent int) error {
	var err error
	switch {
	case base < 0:
		err = fmt.Errorf("mpi: a view begins at %d bytes", base)
	case s != nil && (s.err != nil || s.count == 0 || extent < s.end || !s.ascends()):
		err = errors.Join(s.err, fmt.Errorf("mpi: a view of %d elements up to %d that repeats after %d: it must have "+
			"elements, in ascending order, and repeat behind the last one", s.count, s.end, extent))
	}
	if err = f.agree(ctx, err); err != nil {
		return err
	}
	f.base = base
	f.view = s
	f.extent = extent
	f.next.Local()[0] = 0
	return f.c.Barrier(ctx)
}

// A piece is some bytes of a message, and where in the file they are.
type piece struct {
	off   int64
	bytes []byte
}

// pieces cuts the bytes of elements, from a place of the view on, where the view has gaps. A piece is contiguous in the
// file.
func (f *File) pieces(b []byte, size, at int) (all []piece) {
	if f.view == nil {
		return append(all, piece{f.base + int64(at)*int64(size), b})
	}
	tile := at / f.view.count
	skip := at % f.view.count
	for len(b) > 0 {
		c := newCursor(f.view, f.view.count)
		for left := f.view.count; left > 0 && len(b) > 0; {
			n := c.ahead()
			left -= n
			if skip >= n {
				skip -= n
				c.advance(n)
				continue
			}
			c.advance(skip)
			n = min(n-skip, len(b)/size)
			skip = 0
			off := f.base + (int64(tile)*int64(f.extent)+int64(c.rest.at))*int64(size)
			all = append(all, piece{off, b[:n*size]})
			c.advance(c.ahead())
			b = b[n*size:]
		}
		tile++
	}
	return all
}

// use returns the bytes of a buffer, one behind the other, in a room if need be.
func use(b *Buffer, at int, m *room) ([]byte, error) {
	if err := b.check(); err != nil || b.size == 0 {
		return nil, err
	}
	if at < 0 {
		return nil, fmt.Errorf("mpi: place %d of a file", at)
	}
	flat := b.flat(m)
	return flat.b, nil
}

// WriteAt writes elements from a place of the view on.
func (f *File) WriteAt(b Buffer, at int) error {
	m := newRoom()
	defer m.put()
	bytes, err := use(&b, at, m)
	if err != nil || len(bytes) == 0 {
		return err
	}
	for _, p := range f.pieces(bytes, b.size, at) {
		if _, err := f.f.WriteAt(p.bytes, p.off); err != nil {
			return err
		}
	}
	return nil
}

// ReadAt reads elements from a place of the view on. If the file ends before the last one it returns how many it has
// read, and io.EOF.
func (f *File) ReadAt(b Buffer, at int) (n int, err error) {
	m := newRoom()
	defer m.put()
	bytes, err := use(&b, at, m)
	if err != nil || len(bytes) == 0 {
		return 0, err
	}
	for _, p := range f.pieces(bytes, b.size, at) {
		k, err := f.f.ReadAt(p.bytes, p.off)
		n += k / b.size
		if err != nil {
			b.unpack(bytes[:n*b.size])
			return n, err
		}
	}
	if b.at != nil {
		b.unpack(bytes)
	}
	return n, nil
}

// WriteShared writes elements at the shared pointer, and moves it behind them (MPI_File_write_shared). All members must
// have the same view.
func (f *File) WriteShared(ctx context.Context, b Buffer) error {
	at, err := f.next.FetchOp(ctx, int64(b.count()), 0, 0, UpdateSum)
	if err != nil {
		return err
	}
	return f.WriteAt(b, int(at))
}

// ReadShared reads elements at the shared pointer, and moves it behind them.
func (f *File) ReadShared(ctx context.Context, b Buffer) (n int, err error) {
	at, err := f.next.FetchOp(ctx, int64(b.count()), 0, 0, UpdateSum)
	if err != nil {
		return 0, err
	}
	return f.ReadAt(b, int(at))
}

// WriteOrdered is WriteShared by all members, in their order (MPI_File_write_ordered).
func (f *File) WriteOrdered(ctx context.Context, b Buffer) error {
	at, err := f.ordered(ctx, b.count())
	if err != nil {
		return err
	}
	return f.WriteAtAll(ctx, b, at)
}

// ReadOrdered is ReadShared by all members, in their order.
func (f *File) ReadOrdered(ctx context.Context, b Buffer) (n int, err error) {
	at, err := f.ordered(ctx, b.count())
	if err != nil {
		return 0, err
	}
	return f.ReadAtAll(ctx, b, at)
}

// ordered moves the shared pointer over what all members access, and returns the place of this one.
func (f *File) ordered(ctx context.Context, n int) (int, error) {
	all := make([]int64, f.c.group.n)
	if err := f.c.AllGather(ctx, Of([]int64{int64(n)}), Of(all)); err != nil {
		return 0, err
	}
	before := int64(0)
	sum := int64(0)
	for place, n := range all {
		if place < f.c.me {
			before += n
		}
		sum += n
	}
	if f.c.me == 0 {
		var err error
		if f.at[0], err = f.next.FetchOp(ctx, sum, 0, 0, UpdateSum); err != nil {
			return 0, err
		}
	}
	err := f.c.Broadcast(ctx, Of(f.at), 0)
	return int(f.at[0] + before), err
}
