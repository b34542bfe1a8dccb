package mpi

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"

	"weft/failure"
)

// A File is a file that all members of a communicator read and write (MPI_File). Every member sees the elements that
// its view selects, one behind the other; places are counted in elements of the Buffer that is read or written. Without
// a view it sees all of them. The hosts of the members must have the file under the same name, in a file system that
// shows each what the others have written.
//
// The calls whose names end with All are collective: the members put short pieces together in memory first, so that one
// member of each host reads and writes long ones. Each block of 4096 bytes, at a multiple of that, which is written as
// a whole, is afterwards what has been written or what was there before, also if members are killed meanwhile. The
// other calls are for any number of goroutines.
type File struct {
	c      *Comm // the file's own
	f      *os.File
	view   *Section // nil: all elements
	base   int64    // where the view begins, in bytes
	extent int      // after how many elements the view repeats
	runs   int      // pieces of the view that do not touch each other

	writers []int          // the first members of the hosts, which read and write for all in collective calls
	writer  int            // which of them this member is, or -1
	memory  *Window[int64] // at member 0 the shared pointer, in elements; at the writers the stages
	place   []int64        // of the shared pointer, which ReadOrdered and WriteOrdered share
	said    []said         // of meet
	marks   marks          // what this member has put into a stage
	there   byte           // of writeWhole
}

// OpenFile opens a file, with the flags and the permissions of os.OpenFile. All members call it; the first one makes
// the file if it is to be made.
func OpenFile(ctx context.Context, c *Comm, name string, flags int, perm os.FileMode) (*File, error) {
	f := &File{place: make([]int64, 1), said: make([]said, 1)}
	err := f.findHosts(ctx, c)
	if err != nil {
		return nil, err
	}
	words := 1
	if f.writer = slices.Index(f.writers, c.me); f.writer >= 0 {
		words = (stagesAt + rows*rowBytes(c.group.n)) / 8
	}
	if f.memory, err = NewWindow[int64](ctx, c, words); err != nil {
		return nil, err
	}
	f.c = f.memory.Comm()
	if c.me == 0 {
		f.f, err = os.OpenFile(name, flags, perm)
	}
	if err = f.agree(ctx, err); err == nil {
		if c.me != 0 {
			f.f, err = os.OpenFile(name, flags&^(os.O_TRUNC|os.O_EXCL), perm)
		}
		err = f.agree(ctx, err)
	}
	if err != nil {
		return nil, errors.Join(err, f.close(), f.memory.Free(ctx))
	}
	return f, nil
}

// findHosts finds the first member of each host.
func (f *File) findHosts(ctx context.Context, c *Comm) error {
	hosts := make([]uint64, c.group.n)
	err := c.AllGather(ctx, Of([]uint64{hash([]byte(c.w.p.Host()))}), Of(hosts))
	for place, host := range hosts {
		if slices.Index(hosts, host) == place {
			f.writers = append(f.writers, place)
		}
	}
	return err
}

// agree returns an error at all members if one of them has one.
func (f *File) agree(ctx context.Context, err error) error {
	_, err = f.meet(ctx, err, said{})
	return err
}

// said is what a member tells the others where they meet.
type said struct {
	Failed      int64 // its place + 1 if it has an error: the greatest one of all counts
	First, Last int64 // places in the file: the smallest one of all counts, and the greatest one
	Short       int64 // bytes: the sum counts
}

var everySaid = Each(func(a, b said) said {
	return said{max(a.Failed, b.Failed), min(a.First, b.First), max(a.Last, b.Last), a.Short + b.Short}
})

// meet returns what all members have told, when they all have. It returns an error at all of them if one has one. But a
// member that could not wait for others, or has lost one, revokes: a RevokedError tells the others why.
func (f *File) meet(ctx context.Context, err error, s said) (said, error) {
	if left(err) || failure.GivenUp(err) {
		f.c.Revoke(err)
		return s, err
	}
	if err != nil {
		s.Failed = int64(f.c.me) + 1
	}
	f.said[0] = s
	if e := AllReduce(ctx, f.c, f.said, everySaid); e != nil {
		return s, e
	}
	if s = f.said[0]; err == nil && s.Failed > 0 {
		err = fmt.Errorf("mpi: rank %d could not access the file", f.c.group.at(int(s.Failed)-1))
	}
	return s, err
}

func (f *File) close() error {
	if f.f == nil {
		return nil
	}
	return f.f.Close()
}

// Close waits until all members have called it, and closes the file.
func (f *File) Close(ctx context.Context) error { return errors.Join(f.memory.Free(ctx), f.close()) }

// Sync has the file system write what this member has written, and waits until all members have called it.
func (f *File) Sync(ctx context.Context) error { return f.agree(ctx, f.f.Sync()) }

// SetView says which elements this member sees: from base bytes on those of a section in ascending order, which repeats
// every extent elements; of a nil section all. Members may have different views. The shared pointer is at the beginning
// afterwards, for which all members call it (MPI_File_set_view).
func (f *File) SetView(ctx context.Context, base int64, s *Section, extent int) error {
	var err error
	pieces := 0
	if s != nil && s.err == nil && s.count > 0 && extent >= s.end {
		pieces = s.ascending()
	}
	switch {
	case base < 0:
		err = fmt.Errorf("mpi: a view begins at %d bytes", base)
	case s != nil && pieces == 0:
		err = errors.Join(s.err, fmt.Errorf("mpi: a view of %d elements up to %d that repeats after %d: it must have "+
			"elements, in ascending order, and repeat behind the last one", s.count, s.end, extent))
	}
	if err = f.agree(ctx, err); err != nil {
		return err
	}
	f.base = base
	f.view = s
	f.extent = extent
	f.runs = pieces
	f.memory.Local()[0] = 0
	return f.c.Barrier(ctx)
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
	w := f.walk(bytes, b.size, at)
	for p, ok := w.take(math.MaxInt64); ok; p, ok = w.take(math.MaxInt64) {
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
	w := f.walk(bytes, b.size, at)
	got, err := f.read(&w)
	return f.got(&b, bytes, got, err)
}

// read reads pieces, one by one, and returns how many bytes it has read. These are fewer if the file ends.
func (f *File) read(w *walk) (got int, err error) {
	for p, ok := w.take(math.MaxInt64); ok; p, ok = w.take(math.MaxInt64) {
		n, err := f.f.ReadAt(p.bytes, p.off)
		got += n
		if errors.Is(err, io.EOF) {
			return got, nil
		}
		if err != nil {
			return got, err
		}
	}
	return got, nil
}

// got returns how many elements have been read, and io.EOF if these are not all. They are where they belong then.
func (f *File) got(b *Buffer, bytes []byte, got int, err error) (int, error) {
	if b.at != nil {
		b.unpack(bytes[:got])
	}
	if err == nil && got < len(bytes) {
		err = io.EOF
	}
	return got / max(b.size, 1), err
}

// WriteShared writes elements at the shared pointer, and moves it behind them (MPI_File_write_shared). All members must
// have the same view.
func (f *File) WriteShared(ctx context.Context, b Buffer) error {
	at, err := f.memory.FetchOp(ctx, int64(b.count()), 0, 0, UpdateSum)
	if err != nil {
		return err
	}
	return f.WriteAt(b, int(at))
}

// ReadShared reads elements at the shared pointer, and moves it behind them.
func (f *File) ReadShared(ctx context.Context, b Buffer) (n int, err error) {
	at, err := f.memory.FetchOp(ctx, int64(b.count()), 0, 0, UpdateSum)
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
		if f.place[0], err = f.memory.FetchOp(ctx, sum, 0, 0, UpdateSum); err != nil {
			return 0, err
		}
	}
	err := f.c.Broadcast(ctx, Of(f.place), 0)
	return int(f.place[0] + before), err
}
