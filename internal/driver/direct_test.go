package driver

import (
	"bytes"
	"errors"
	"testing"

	"weft/failure"
	"weft/internal/engine/rma"
	"weft/internal/engine/wire"
	"weft/internal/mem"
	"weft/internal/transport"
)

// Access to mapped memory is refused as the target would refuse it: past the region, at odd places, and when it has
// been withdrawn. What is refused changes nothing.
func TestDirect(t *testing.T) {
	const size = 24
	var misaligned *failure.MisalignedError
	var outside *failure.BoundsError
	for _, c := range []struct {
		off, n int
		add    bool
		gone   bool
		want   any
	}{
		{off: 0, n: 24},
		{off: 23, n: 1},
		{off: 24, n: 0},
		{off: 3, n: 5},
		{off: 8, n: 16, add: true},
		{off: -1, n: 1, want: &outside},
		{off: 24, n: 1, want: &outside},
		{off: 0, n: 25, want: &outside},
		{off: 17, n: 8, want: &outside},
		{off: 4, n: 8, add: true, want: &misaligned},
		{off: 8, n: 4, add: true, want: &misaligned},
		{off: 0, n: 8, gone: true, want: failure.ErrClosed},
	} {
		m := transport.NewMapping(mem.Aligned(size+8), false, nil)
		if c.gone {
			mem.Store64(m.Bytes, size, 1)
		}
		b := make([]byte, c.n)
		for i := range b {
			b[i] = 1
		}
		code := rma.Replace
		if c.add {
			code = wire.CodeAdd
		}
		written := Write(m, 1, size, c.off, code, b)
		if !isError(written, c.want) {
			t.Errorf("%+v: Write: %v", c, written)
		}
		ones := 0
		for _, v := range m.Bytes[:size] {
			ones += int(v)
		}
		if written == nil && ones != c.n || written != nil && ones != 0 {
			t.Errorf("%+v: %d bytes were written", c, ones)
		}
		clear(b)
		read := Read(m, 1, size, c.off, b)
		if c.want == any(&misaligned) {
			c.want = nil // updates alone need words
		}
		if !isError(read, c.want) {
			t.Errorf("%+v: Read: %v", c, read)
		}
		if written == nil && !bytes.Equal(b, m.Bytes[c.off:][:c.n]) {
			t.Errorf("%+v: read %v", c, b)
		}
	}
}

// isError reports whether an error is the one wanted: nil, one for errors.Is, or a pointer for errors.As.
func isError(err error, want any) bool {
	switch want := want.(type) {
	case nil:
		return err == nil
	case error:
		return errors.Is(err, want)
	default:
		return err != nil && errors.As(err, want)
	}
}

// An atomic operation needs a whole word of the region.
func TestDirectAtomic(t *testing.T) {
	for _, c := range []struct {
		off  int
		gone bool
		fine bool
	}{{off: 0, fine: true}, {off: 16, fine: true}, {off: 24}, {off: -8}, {off: 4}, {off: 8, gone: true}} {
		m := transport.NewMapping(mem.Aligned(32), false, nil)
		mem.Store64(m.Bytes, 0, 5)
		if c.gone {
			mem.Store64(m.Bytes, 24, 1)
		}
		old, err := Atomic(m, 1, 24, c.off, wire.CodeAdd, 2, 0)
		if (err == nil) != c.fine || err == nil && (old == 5) != (c.off == 0) {
			t.Errorf("%+v: %d, %v", c, old, err)
		}
	}
	m := transport.NewMapping(mem.Aligned(32), false, nil)
	m.Retire()
	if _, err := Atomic(m, 1, 24, 0, wire.CodeAdd, 2, 0); !errors.Is(err, failure.ErrClosed) {
		t.Errorf("memory that is gone: %v", err)
	}
}

// Memory that no transport shares is neither mapped nor read nor reached.
func TestNoMemory(t *testing.T) {
	var none *Peer
	for _, p := range []*Peer{none, {Rank: 1}, {Rank: 1, Transport: &sink{}}} {
		if p.Read(0, 1, make([]byte, 8)) || p.Read(1, 0, make([]byte, 8)) {
			t.Error("memory was read")
		}
		if w := p.Reach(t.Context(), rma.Found{}); w != nil {
			t.Error("memory is reached")
		}
		if p != nil && p.Map(rma.Found{Mem: 1, Size: 8}) != nil {
			t.Error("memory is mapped")
		}
	}
}

// sharing is a transport to ranks with one piece of memory.
type sharing struct {
	sink
	mapping *transport.Mapping
}

func (s *sharing) Memory() transport.Memory         { return sharedMemory{s: s} }
func (sharedMemory) Read(int, uint64, []byte) error { return errors.New("no such memory") }

type sharedMemory struct {
	transport.Memory
	s *sharing
}

func (m sharedMemory) Map(int, uint32, uint64, bool) (*transport.Mapping, error) {
	if m.s.mapping == nil {
		return nil, errors.New("no such memory")
	}
	return m.s.mapping, nil
}

// What a peer says of its memory is checked by what is mapped: a region ends before the last word, and a long message
// lies within.
func TestMappedIsChecked(t *testing.T) {
	s := &sharing{}
	p := &Peer{Rank: 1, Transport: s}
	for _, c := range []struct {
		bytes, size int
		mem         uint32
		fine        bool
	}{
		{bytes: 32, size: 24, mem: 1, fine: true},
		{bytes: 8, size: 0, mem: 1, fine: true},
		{bytes: 32, size: 25, mem: 1},
		{bytes: 32, size: -1, mem: 1},
		{bytes: 32, size: 24},
		{bytes: 7, size: 0, mem: 1},
		{bytes: -1, size: 0, mem: 1},
	} {
		s.mapping = nil
		if c.bytes >= 0 {
			s.mapping = transport.NewMapping(mem.Aligned(32)[:c.bytes], false, nil)
		}
		if got := p.Map(rma.Found{Mem: c.mem, Size: c.size}); (got != nil) != c.fine {
			t.Errorf("%+v: %v", c, got)
		}
	}
	for _, c := range []struct {
		addr uint64
		n    int
		fine bool
	}{{0, 32, true}, {31, 1, true}, {32, 0, true}, {0, 33, false}, {32, 1, false}, {33, 0, false}, {1 << 63, 1, false}} {
		s.mapping = transport.NewMapping(mem.Aligned(32), false, nil)
		for i := range s.mapping.Bytes {
			s.mapping.Bytes[i] = byte(i)
		}
		b := make([]byte, c.n)
		if got := p.Read(1, c.addr, b); got != c.fine || got && c.n > 0 && b[0] != byte(c.addr) {
			t.Errorf("%+v: %t, %v", c, got, b)
		}
	}
	if s.mapping.Retire(); p.Read(1, 0, make([]byte, 8)) {
		t.Error("memory that is gone was read")
	}
	s.mapping = nil
	if p.Read(1, 0, make([]byte, 8)) || p.Read(0, 0, make([]byte, 8)) {
		t.Error("memory that cannot be had was read")
	}
}
