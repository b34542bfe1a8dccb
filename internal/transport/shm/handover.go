package shm

import (
	"encoding/binary"
	"fmt"
	"net"

	"weft/internal/sys"
	"weft/internal/transport"
)

// After the handshake both sides say to each other, over the connection, what becomes
// of their memory (PROTOCOL §7). They do so in records.
const (
	want = 'w' // the memory of that number is asked for, with its key
	have = 'h' // the answer: with the descriptor, or without if it may not be had
	gone = 'g' // the memory of that number is taken back
	dead = 'd' // its receiver counts as dead at the sender
)

// A record is one of these, with the descriptor that goes with it, or -1.
type record struct {
	kind byte
	id   uint32
	key  uint64
	fd   int
}

// recordSize is how long a record is: kind, number, key.
const recordSize = 1 + 4 + 8

// bytes returns the record as it is sent: kind (1 byte), id (4), key (8), little-endian. The descriptor travels
// beside it.
func (r record) bytes() []byte {
	b := binary.LittleEndian.AppendUint32([]byte{r.kind}, r.id)
	return binary.LittleEndian.AppendUint64(b, r.key)
}

// parseRecord reads a record of a peer, with the descriptor that came beside it, or -1. If the record is not good
// the descriptor stays the caller's.
func parseRecord(b []byte, fd int) (r record, ok bool) {
	if len(b) != recordSize {
		return r, false
	}
	return record{b[0], binary.LittleEndian.Uint32(b[1:]), binary.LittleEndian.Uint64(b[5:]), fd}, true
}

// tell sends a record to a peer, without waiting for it: a peer that is stopped may not read for
// long. A goroutine sends what is queued, so records arrive in order. t.mu is held.
func (t *Transport) tell(p *peer, r record) {
	if t.closed || p.exited.Load() {
		closeFD(r.fd)
		return
	}
	p.untold = append(p.untold, r)
	if !p.telling {
		p.telling = true
		t.wg.Add(1)
		go t.telling(p, p.conns[0])
	}
}

// telling sends the queued records to a peer. It ends when there are none, or when the connection
// ends.
func (t *Transport) telling(p *peer, c *net.UnixConn) {
	defer t.wg.Done()
	for {
		t.mu.Lock()
		if len(p.untold) == 0 {
			p.telling = false
			p.untold = nil
			t.mu.Unlock()
			return
		}
		r := p.untold[0]
		p.untold = p.untold[1:]
		if r.kind == have {
			p.owed--
		}
		t.mu.Unlock()
		_ = sys.SendFD(c, r.bytes(), r.fd) // attend notices when the connection ends
		closeFD(r.fd)
	}
}

// attend reads what a peer says on one connection until the connection ends, which is how the
// peer's death is noticed.
func (t *Transport) attend(p *peer, c *net.UnixConn) {
	defer t.wg.Done()
	defer c.Close()
	var buf [2 * recordSize]byte
	for {
		n, fd, err := sys.RecvFD(c, buf[:])
		if err != nil {
			t.ended(p)
			return
		}
		r, ok := parseRecord(buf[:n], fd)
		switch {
		case ok && r.kind == want:
			closeFD(fd)
			t.give(p, r)
		case ok && r.kind == have:
			t.take(p, r)
		case ok && r.kind == gone:
			closeFD(fd)
			t.forget(p, r.id)
		case ok && r.kind == dead:
			closeFD(fd)
			t.down(p, errForgotten)
		default:
			closeFD(fd)
		}
	}
}

// maxOwed bounds the answers that wait to be sent to a peer. A peer that asks again only
// after it has been answered never has more than one.
const maxOwed = 4

// give answers a want.
func (t *Transport) give(p *peer, r record) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if p.owed == maxOwed {
		return
	}
	a := t.shared[r.id]
	fd := a.descriptor(p.rank, r.key)
	if fd >= 0 {
		a.holders[p] = true
	}
	p.owed++
	t.tell(p, record{kind: have, id: r.id, fd: fd})
}

// take maps memory that a peer has given. It is done here, and not by the goroutine that has asked,
// so that the mapping is known when the peer says next that it takes the memory back.
func (t *Transport) take(p *peer, r record) {
	t.mu.Lock()
	defer t.mu.Unlock()
	q := p.request
	if q == nil || q.id != r.id {
		closeFD(r.fd) // no goroutine waits for it any more
		return
	}
	p.request = nil
	var m *transport.Mapping
	err := errTooMany
	if len(p.mapped) < maxAreas {
		m, err = mapMemory(r.fd, q.readOnly)
	} else {
		closeFD(r.fd)
	}
	if err != nil {
		q.got <- answer{err: fmt.Errorf("rank %d, memory %d: %w", p.rank, r.id, err)}
		return
	}
	p.mapped[q.view] = m
	q.got <- answer{m: m}
}

// mapMemory maps memory of a peer, and closes the descriptor. Memory whose owner could take it away under the
// mapping is refused (sys.MapMemory).
func mapMemory(fd int, readOnly bool) (*transport.Mapping, error) {
	if fd < 0 {
		return nil, errNoMemory
	}
	b, err := sys.MapMemory(fd, readOnly)
	if err != nil {
		return nil, err
	}
	return transport.NewMapping(b, readOnly, unmap), nil
}

// forget lets go of memory that a peer has taken back.
func (t *Transport) forget(p *peer, id uint32) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, v := range []view{{id, false}, {id, true}} {
		if m := p.mapped[v]; m != nil {
			delete(p.mapped, v)
			retire(m)
		}
	}
}

// ended notes the end of a peer's process. Memory of it that is mapped here stays until nothing
// refers to it: it may be a barrier's, and show which ranks had arrived.
func (t *Transport) ended(p *peer) {
	p.exited.Store(true)
	t.mu.Lock()
	if q := p.request; q != nil {
		p.request = nil
		q.got <- answer{err: fmt.Errorf("weft: shm: rank %d: %w", p.rank, errGone)}
	}
	clear(p.mapped)
	t.mu.Unlock()
	t.down(p, errGone)
}
