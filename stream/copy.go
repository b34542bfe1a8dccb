package stream

import "io"

// A source is the reading half of a connection whose bytes can be lent to a Writer.
type source interface {
	// await waits for bytes, if any are wanted, and returns the first that lie together in memory.
	await(wanted bool) ([]byte, error)

	// take gives the first n bytes that await has returned back to the peer.
	take(n int)

	// fail returns the error of an operation, as package net does.
	fail(op string, err error) error
}

// writeTo lends the bytes of a connection to w, up to most at a time, until the peer has ended its
// writing or there is an error. The caller holds the lock of the reading half.
func writeTo(s source, w io.Writer, most int) (n int64, err error) {
	for {
		b, err := s.await(true)
		if err == io.EOF {
			return n, nil
		}
		if err != nil {
			return n, s.fail("read", err)
		}
		b = b[:min(len(b), most)]
		k, err := w.Write(b)
		if k < 0 || k > len(b) {
			panic("stream: a Writer wrote more than it was given")
		}
		s.take(k)
		n += int64(k)
		if err == nil && k < len(b) {
			err = io.ErrShortWrite
		}
		if err != nil {
			return n, err
		}
	}
}

// WriteTo reads until the peer has ended its writing, or until an error, and writes what it reads to
// w. It lends w the bytes where they lie in the ring, without copying them. While it runs, other calls
// of Read wait. w must not rely on the bytes staying the same during a call of w.Write: the peer
// shares the memory and could change them.
func (c *Conn) WriteTo(w io.Writer) (n int64, err error) {
	c.rd.Lock()
	defer c.rd.Unlock()
	return writeTo(c, w, piece)
}

// ReadFrom reads from r until io.EOF, and writes what it reads. It hands r the ring's own memory, so
// nothing is copied in between. The peer shares that memory: it can see and change what r does
// there. While ReadFrom runs, other calls of Write wait. The write deadline ends it between calls of
// r.Read only.
func (c *Conn) ReadFrom(r io.Reader) (n int64, err error) {
	c.wr.Lock()
	defer c.wr.Unlock()
	defer c.draftFor(r)()
	for empty := 0; ; {
		room, err := c.room(true)
		if err != nil {
			return n, c.fail("write", err)
		}
		room = room[:min(len(room), piece)]
		k, err := r.Read(room)
		if k < 0 || k > len(room) {
			panic("stream: a Reader read more than it was asked for")
		}
		if k > 0 {
			empty = 0
			if err := c.writer.interrupted(); err != nil {
				return n, c.fail("write", err)
			}
			if err := c.put(k); err != nil {
				return n, c.fail("write", err)
			}
			n += int64(k)
		}
		if err == io.EOF {
			return n, nil
		}
		if err == nil && k == 0 {
			if empty++; empty == 100 {
				err = io.ErrNoProgress
			}
		}
		if err != nil {
			return n, err
		}
	}
}
