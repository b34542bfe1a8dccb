package shm

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"time"

	"weft/internal/handshake"
	"weft/internal/sys"
	"weft/transport"
)

// An area is memory of ours that peers can map.
type area struct {
	fd  int
	mem []byte
}

// Memory gives access to the memory of peers.
func (t *Transport) Memory() transport.Memory { return t }

// Share makes memory that peers can map.
func (t *Transport) Share(n int) (id uint32, mem []byte, err error) {
	fd, mem, err := sys.NewMemory("weft-region", (n+page-1)/page*page)
	if err != nil {
		return 0, nil, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.lastID++
	t.shared[t.lastID] = &area{fd, mem}
	return t.lastID, mem, nil
}

// Unshare takes shared memory away from this process; peers that have it
// mapped keep it.
func (t *Transport) Unshare(id uint32) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.release(id)
}

func (t *Transport) release(id uint32) error {
	a := t.shared[id]
	if a == nil {
		return fmt.Errorf("weft: shm: there is no shared memory %d", id)
	}
	delete(t.shared, id)
	sys.CloseFD(a.fd)
	return sys.Unmap(a.mem)
}

// After the handshake both sides ask for descriptors over the connection, in
// records of 5 bytes: a letter and the number of the memory.
const (
	want = 'w'
	have = 'h' // with the descriptor, or without if there is no such memory
)

// attend answers a peer on one connection until it ends, which is how the
// peer's death is noticed.
func (t *Transport) attend(p *peer, c *net.UnixConn) {
	defer t.wg.Done()
	defer c.Close()
	var buf [8]byte
	for {
		n, fd, err := sys.RecvFD(c, buf[:])
		if err != nil {
			p.exited.Store(true)
			if answer := p.answer.Swap(nil); answer != nil {
				*answer <- -1
			}
			t.down(p, errGone)
			return
		}
		if n != 5 {
			closeFD(fd)
			continue
		}
		id := binary.LittleEndian.Uint32(buf[1:])
		if buf[0] == want {
			closeFD(fd)
			t.give(c, id)
			continue
		}
		if answer := p.answer.Swap(nil); answer != nil {
			*answer <- fd
		} else {
			closeFD(fd)
		}
	}
}

// give answers a want.
func (t *Transport) give(c *net.UnixConn, id uint32) {
	t.mu.Lock()
	defer t.mu.Unlock()
	fd := -1
	if a := t.shared[id]; a != nil {
		fd = a.fd
	}
	c.SetWriteDeadline(time.Now().Add(handshake.Timeout))
	_ = sys.SendFD(c, record(have, id), fd) // the reader notices if it fails
}

func record(kind byte, id uint32) []byte {
	return binary.LittleEndian.AppendUint32([]byte{kind}, id)
}

// errNoMemory reports memory that the peer does not share.
var errNoMemory = errors.New("weft: shm: the peer shares no such memory")

// Map makes a peer's shared memory visible here.
func (t *Transport) Map(rank int, id uint32) ([]byte, error) {
	t.mu.Lock()
	p := t.peers[rank]
	if p == nil || len(p.conns) == 0 {
		t.mu.Unlock()
		return nil, fmt.Errorf("rank %d: %w", rank, transport.ErrUnknownPeer)
	}
	if m := p.mapped[id]; m != nil {
		t.mu.Unlock()
		return m, nil
	}
	c := p.conns[0]
	t.mu.Unlock()
	p.asking.Lock() // one at a time: the answer is for whoever asked
	defer p.asking.Unlock()
	t.mu.Lock()
	m := p.mapped[id]
	t.mu.Unlock()
	if m != nil {
		return m, nil
	}
	answer := make(chan int, 1)
	p.answer.Store(&answer)
	if err := sys.SendFD(c, record(want, id), -1); err != nil {
		return nil, fmt.Errorf("weft: shm: rank %d: %w", rank, err)
	}
	select {
	case fd := <-answer:
		return t.mapped(p, id, fd)
	case <-time.After(handshake.Timeout):
		return nil, fmt.Errorf("weft: shm: rank %d does not answer", rank)
	case <-t.done:
		return nil, net.ErrClosed
	}
}

func (t *Transport) mapped(p *peer, id uint32, fd int) ([]byte, error) {
	if fd < 0 {
		return nil, fmt.Errorf("rank %d, memory %d: %w", p.rank, id, errNoMemory)
	}
	m, err := sys.MapMemory(fd)
	if err != nil {
		return nil, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	p.mapped[id] = m
	return m, nil
}

// Read copies from a peer's ordinary memory.
func (t *Transport) Read(rank int, addr uint64, dst []byte) error {
	v, ok := t.out.Load(rank)
	if !ok {
		return fmt.Errorf("rank %d: %w", rank, transport.ErrUnknownPeer)
	}
	p := v.(*peer)
	if p.noRead.Load() {
		return transport.ErrNoAccess
	}
	err := sys.ReadProcess(p.pid, addr, dst)
	if errors.Is(err, sys.ErrForbidden) {
		p.noRead.Store(true)
		return transport.ErrNoAccess
	}
	return err
}
