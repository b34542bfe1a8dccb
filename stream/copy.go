package stream

import (
	"io"
	"net"
)

// WriteTo writes what is read to w, from where it lies in the ring: nothing is copied
// between. It returns when the peer has ended its writing, or at an error. While it runs,
// other calls of Read wait. w must not believe that the bytes stay as they are during a
// call: the peer could change them.
func (c *Conn) WriteTo(w io.Writer) (n int64, err error) {
	c.rd.Lock()
	defer c.rd.Unlock()
	for {
		b, err := c.await(true)
		if err == io.EOF {
			return n, nil
		}
		if err != nil {
			return n, c.fail("read", err)
		}
		k, err := w.Write(b[:min(len(b), piece)])
		if k < 0 || k > min(len(b), piece) {
			panic("stream: a Writer wrote more than it was given")
		}
		c.take(k)
		n += int64(k)
		if err == nil && k < min(len(b), piece) {
			err = io.ErrShortWrite
		}
		if err != nil {
			return n, err
		}
	}
}

// ReadFrom writes what it reads from r until io.EOF. r writes into the ring itself:
// nothing is copied between. While it runs, other calls of Write wait, and the deadline of
// writing ends it between calls of r.Read only. The peer can see, and change, what r does
// with the memory that it is given.
func (c *Conn) ReadFrom(r io.Reader) (n int64, err error) {
	c.wr.Lock()
	defer c.wr.Unlock()
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

// WriteBuffers writes all of bufs as one call of Write would, and leaves in it what has
// not been written. The WriteTo of net.Buffers cannot be told of it: package net keeps its
// vectored writing for its own connections, and calls Write for each slice. That is the
// same number of copies, and at most one system call, too.
func (c *Conn) WriteBuffers(bufs *net.Buffers) (n int64, err error) {
	c.wr.Lock()
	defer c.wr.Unlock()
	for len(*bufs) > 0 {
		k, err := c.gather(*bufs)
		n += int64(k)
		drop(bufs, k)
		if err != nil {
			return n, c.fail("write", err)
		}
	}
	return n, nil
}

// gather writes as much of bufs as there is room for in one piece, and returns how much.
// wr is held.
func (c *Conn) gather(bufs net.Buffers) (n int, err error) {
	room, err := c.room(true)
	if err != nil {
		return 0, err
	}
	room = room[:min(len(room), piece)]
	for _, b := range bufs {
		if n == len(room) {
			break
		}
		n += copy(room[n:], b)
	}
	if n == 0 {
		return 0, nil
	}
	return n, c.put(n)
}

// drop takes the first n bytes off, and the slices that have nothing more.
func drop(bufs *net.Buffers, n int) {
	for len(*bufs) > 0 {
		b := (*bufs)[0]
		if len(b) > n {
			(*bufs)[0] = b[n:]
			return
		}
		n -= len(b)
		(*bufs)[0] = nil
		*bufs = (*bufs)[1:]
	}
}
