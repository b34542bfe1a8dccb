package shm

import (
	"errors"
	"fmt"
	"runtime"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"weft/internal/explore"
	"weft/internal/handshake"
	"weft/internal/mem"
	"weft/internal/sys"
	"weft/internal/transport"
)

// Two ranks map each other's memory, by one connection, now and when every deadline of
// its set-up and of what was handed over has long passed.
func TestMapsLater(t *testing.T) {
	if testing.Short() {
		t.Skip("lasts as long as a deadline")
	}
	t.Parallel()
	a, others := openFor(t, 1, func(int) func(int) bool { return nil })
	b := others[0]
	swap := func() {
		t.Helper()
		for _, way := range []struct{ from, to *Transport }{{a, b}, {b, a}} {
			id, _, err := way.from.Share(1, false)
			if err != nil {
				t.Fatal(err)
			}
			way.from.Admit(id, 1)
			for { // until the listener has heard the end of the handshake
				_, err = way.to.Map(way.from.cfg.Rank, id, 1, false)
				if !errors.Is(err, transport.ErrUnknownPeer) {
					break
				}
			}
			if err != nil {
				t.Fatalf("rank %d: %v", way.to.cfg.Rank, err)
			}
		}
	}
	swap()
	<-time.After(handshake.Timeout + 100*time.Millisecond)
	swap()
}

// A goroutine that asks for a peer's memory as soon as the peer is known does not disturb the handshake:
// the listener's last record of it goes ahead of the question.
func TestMapWhileConnecting(t *testing.T) {
	const id = 1
	const key = 7
	before := runtime.GOMAXPROCS(8) // the kernel takes the listener's processor now and then
	defer runtime.GOMAXPROCS(before)
	for range explore.Choose(100, 500) {
		var pair [2]*Transport
		for rank := range pair {
			s, err := Open(Config{Rank: rank, Size: 2, Job: 1, Secret: make([]byte, 32)})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			pair[rank] = s
		}
		if _, _, err := pair[1].Share(1, false); err != nil {
			t.Fatal(err)
		}
		pair[1].Admit(id, key)
		asked := make(chan error, 1)
		go func() {
			for {
				_, err := pair[0].Map(1, id, key, false)
				if !errors.Is(err, transport.ErrUnknownPeer) {
					asked <- err
					return
				}
			}
		}()
		if err := pair[1].Dial(0, pair[0].Card()); err != nil {
			t.Fatal(err)
		}
		if err := <-asked; err != nil {
			t.Fatal(err)
		}
	}
}

// hostile is a rank that asks for memory as it likes.
type hostile struct {
	t *testing.T
	*Transport
	peer *peer
}

// ask asks rank 0, and returns the descriptor that it gives, or -1.
func (h hostile) ask(id uint32, key uint64) int {
	h.t.Helper()
	r := &request{view{id, true}, make(chan answer, 1)}
	h.mu.Lock()
	h.peer.request = r
	h.tell(h.peer, record{kind: want, id: id, key: key, fd: -1})
	h.mu.Unlock()
	a := <-r.got
	if a.err != nil {
		return -1
	}
	h.mu.Lock()
	delete(h.peer.mapped, r.view)
	h.mu.Unlock()
	// The descriptor is closed by now; the kernel opens it again by what is mapped.
	fd, err := unix.Open(mapped(h.t, a.m), unix.O_RDONLY, 0)
	if err != nil {
		h.t.Skipf("only root can do what is tried here: %v", err)
	}
	return fd
}

// A rank that does not know a region's key gets none of its memory, by whatever number it
// asks; and of memory for reading only there is nothing to be had that could be written
// to, whatever the library at the other end does with it.
func TestHostilePeer(t *testing.T) {
	a, others := openFor(t, 1, func(int) func(int) bool { return nil })
	h := hostile{t, others[0], nil}
	h.peer = h.Lane(0).(*peer)
	const key = 0xfeedface
	writable, _, err := a.Share(100, false)
	if err != nil {
		t.Fatal(err)
	}
	readable, mine, err := a.Share(100, true)
	if err != nil {
		t.Fatal(err)
	}
	a.Admit(readable, key)
	for id := range uint32(10) {
		for _, k := range []uint64{0, 1, key - 1, ^uint64(0)} {
			if fd := h.ask(id, k); fd >= 0 {
				t.Errorf("memory %d was given for key %#x", id, k)
			}
		}
	}
	if fd := h.ask(writable, key); fd >= 0 {
		t.Error("memory was given for the key of another")
	}
	a.Admit(writable, key+1)
	if fd := h.ask(writable, key+1); fd < 0 {
		t.Error("memory was not given for its key")
	}
	fd := h.ask(readable, key)
	mine.Bytes[7] = 42
	refuses(t, fd, 42)

	granted, theirs, err := a.Share(100, false)
	if err != nil {
		t.Fatal(err)
	}
	a.Grant(granted, 1)
	theirs.Bytes[7] = 43
	m, err := h.Map(0, granted, 0, true)
	if err != nil || m.Bytes[7] != 43 {
		t.Fatal(err)
	}
	if err := unix.Mprotect(m.Bytes, unix.PROT_READ|unix.PROT_WRITE); err == nil {
		t.Error("what was granted for reading can be written to")
	}
	if _, err := h.Map(0, granted, 0, false); err == nil {
		t.Error("what was granted for reading was mapped for writing")
	}
}

// A peer that asks and does not read its answers costs no more than a few of them.
func TestPeerThatOnlyAsks(t *testing.T) {
	a, others := openFor(t, 1, func(int) func(int) bool { return nil })
	p := others[0].Lane(0).(*peer)
	for range 10000 {
		if err := sys.SendFD(p.conns[0], record{kind: want, id: 1}.bytes(), -1); err != nil {
			t.Fatal(err)
		}
		a.mu.Lock()
		waiting := 0
		if q := a.peers[1]; q != nil {
			waiting = len(q.untold)
		}
		a.mu.Unlock()
		if waiting > maxOwed {
			t.Fatalf("%d answers wait", waiting)
		}
	}
}

// refuses checks that memory cannot be written to by a descriptor.
func refuses(t *testing.T, fd int, want byte) {
	t.Helper()
	if fd < 0 {
		t.Fatal("memory was not given for its key")
	}
	m, err := unix.Mmap(fd, 0, page, unix.PROT_READ, unix.MAP_SHARED)
	if err != nil || m[7] != want {
		t.Fatalf("%v: it does not show what the owner writes", err)
	}
	if err := unix.Mprotect(m, unix.PROT_READ|unix.PROT_WRITE); err == nil {
		t.Error("its mapping can be made writable")
	}
	again, err := unix.Open(self(fd), unix.O_RDWR, 0)
	if err == nil {
		if _, err := unix.Pwrite(again, []byte{1}, 0); err == nil {
			t.Error("it can be written to when it is opened again")
		}
		if _, err := unix.Mmap(again, 0, page, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED); err == nil {
			t.Error("it can be mapped for writing when it is opened again")
		}
	}
}

// self is the name of a descriptor of this process.
func self(fd int) string { return fmt.Sprintf("/proc/self/fd/%d", fd) }

// mapped is the name of what is mapped.
func mapped(t *testing.T, m *transport.Mapping) string {
	t.Helper()
	at := mem.Addr(m.Bytes)
	return fmt.Sprintf("/proc/self/map_files/%x-%x", at, at+uint64(len(m.Bytes)))
}
