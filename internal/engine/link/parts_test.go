package link

import (
	"bytes"
	"testing"

	"weft/internal/engine/wire"
)

// parted returns frame n, and it in parts.
func parted(n, size int) (frame []byte, parts [][]byte) {
	frame = make([]byte, size)
	for i := range frame {
		frame[i] = byte(i*7 + n)
	}
	for off := 0; off < size; off += partBytes {
		p := wire.Part{Off: uint16(off), Total: uint16(size)}.Append(nil)
		parts = append(parts, append(p, frame[off:min(off+partBytes, size)]...))
	}
	return frame, parts
}

// TestParts: frames are put together from parts that come in any order, twice, and mixed
// with those of others.
func TestParts(t *testing.T) {
	r := newRig(t, 1, Config{}, faults{})
	c := r.ends[1].conn
	for _, size := range []int{1200, partBytes + 1, 2 * partBytes, 8900, 1<<16 - 1} {
		type mixed struct {
			n int
			b []byte
		}
		var all []mixed
		want := map[int][]byte{}
		for n := range assemblies {
			frame, parts := parted(n, size)
			want[n] = frame
			for _, p := range parts {
				all = append(all, mixed{n, p})
			}
			all = append(all, mixed{n, parts[0]})
		}
		r.rand.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		got := 0
		for _, m := range all {
			if frame := c.assemble(uint32(m.n), m.b); frame != nil {
				if !bytes.Equal(frame, want[m.n]) {
					t.Fatalf("a frame of %d bytes is not what was sent", size)
				}
				got++
			}
		}
		if got != assemblies {
			t.Errorf("%d of %d frames of %d bytes are whole", got, assemblies, size)
		}
		clear(c.recv.assemblies)
	}
}

// TestLyingParts: parts that do not belong together are no frame.
func TestLyingParts(t *testing.T) {
	r := newRig(t, 1, Config{}, faults{})
	c := r.ends[1].conn
	_, parts := parted(1, 2000)
	_, others := parted(1, 2001)
	lie := func(off, total uint16, n int) []byte {
		return append(wire.Part{Off: off, Total: total}.Append(nil), make([]byte, n)...)
	}
	for _, b := range [][]byte{
		parts[0], parts[0], others[1], others[1], parts[1][:len(parts[1])-1], nil, parts[0][:wire.PartSize],
		lie(1, 2000, partBytes), lie(0, 2000, 1999), lie(0, 0, 0), lie(0, 5, 6), lie(1<<16-1, 1<<16-1, 0),
		lie(partBytes, partBytes, 0),
	} {
		if frame := c.assemble(7, b); frame != nil {
			t.Errorf("%x… makes a frame of %d bytes", b[:min(len(b), 16)], len(frame))
		}
	}
	before := c.recv.expected
	for _, seq := range []uint32{before - 1, before + (&Config{}).keeps() + 1, before + 1<<31} {
		if c.onPart(r.now, seq, lie(0, 10, 10), true) != nil {
			t.Errorf("packet %d is taken, %d is expected", seq, before)
		}
	}
	if frame := c.onPart(r.now, before, lie(0, 10, 10), true); len(frame) != 10 {
		t.Errorf("the packet that is expected, in one part: %d bytes", len(frame))
	}
}

// TestPartsUnsent: of a packet in parts that its transport has taken only some, or none,
// everything arrives all the same.
func TestPartsUnsent(t *testing.T) {
	seeds(t, func(t *testing.T, seed uint64) {
		r := full(t, seed, seed%2 == 0, faults{mtu: 1232}) // one output in ten is cut short by the rig
		r.more(300)
		if s := r.ends[0].conn.counts; s.Shortened == 0 || r.ends[1].got != 300 {
			t.Errorf("%d frames came: %+v", r.ends[1].got, s)
		}
	})
}
