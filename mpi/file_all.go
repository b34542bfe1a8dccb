package mpi

import "context"

// WriteAtAll is WriteAt by all members at once (MPI_File_write_at_all). Where the pieces of several members overlap,
// each byte is that of one of them.
func (f *File) WriteAtAll(ctx context.Context, b Buffer, at int) error {
	m := newRoom()
	defer m.put()
	bytes, failed := use(&b, at, m)
	w := f.walk(bytes, b.size, at)
	s := stage{f: f, from: never}
	for {
		told, err := f.meet(ctx, failed, said{First: w.first()})
		if err != nil {
			return err
		}
		if s.from != never {
			failed = s.write()
		}
		if told.First == never {
			break
		}
		s = stage{f, s.row ^ 1, told.First / blockBytes * blockBytes}
		if err := s.fill(ctx, &w); failed == nil {
			failed = err
		}
	}
	if s.from == never {
		return nil
	}
	return f.agree(ctx, failed)
}

// ReadAtAll is ReadAt by all members at once (MPI_File_read_at_all).
func (f *File) ReadAtAll(ctx context.Context, b Buffer, at int) (n int, err error) {
	m := newRoom()
	defer m.put()
	bytes, failed := use(&b, at, m)
	w := f.walk(bytes, b.size, at)
	mine := said{First: w.first()}
	if len(bytes) > 0 && f.inShort(b.size, len(bytes)) {
		mine.Short = int64(len(bytes))
		mine.Last = w.ends()
	}
	told, err := f.meet(ctx, failed, mine)
	if err != nil {
		return 0, err
	}
	got := 0
	if told.Short < (told.Last-told.First)/sparse || told.Short == 0 {
		got, failed = f.read(&w)
	} else {
		got, failed = f.readStages(ctx, &w, told)
	}
	return f.got(&b, bytes, got, f.agree(ctx, failed))
}

// sparse is how many times as many bytes as members want a writer does not read for them.
const sparse = 8

// inShort reports whether an access consists of so many short pieces that one member should read them for all.
func (f *File) inShort(size, bytes int) bool {
	if f.view == nil {
		return false
	}
	each := f.view.count / f.runs * size
	return each < blockBytes && bytes > 4*each
}

// readStages reads the pieces of a walk from stages.
func (f *File) readStages(ctx context.Context, w *walk, all said) (got int, failed error) {
	ends := int64(never)
	s := stage{f: f, from: all.First / blockBytes * blockBytes}
	for s.from < all.Last {
		last, err := s.read(all.Last)
		if failed == nil {
			failed = err
		}
		told, err := f.meet(ctx, failed, said{First: last})
		if err != nil {
			return got, err
		}
		ends = min(ends, told.First)
		n, err := s.fetch(ctx, w, ends)
		got += n
		failed = err
		s = stage{f, s.row ^ 1, s.end()}
	}
	return got, failed
}
