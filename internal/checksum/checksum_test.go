package checksum

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// random returns n bytes that a seed decides.
func random(seed uint64, n int) []byte {
	rng := rand.New(rand.NewPCG(seed, 0))
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(rng.Uint32())
	}
	return b
}

// What the processor adds up is what the definition says, at every length and alignment.
func TestProducts(t *testing.T) {
	b := random(1, 2*limit)
	for n := range 3 * block {
		for off := range 8 {
			for _, size := range [][2]int{{n / 2, 0}, {n / 2, n}, {n / 2, 1400 + n}, {n / 2, limit - 5*block + n},
				{limit - 4*block + n, 0}, {limit - 4*block + n, n}} {
				parts := [3][]byte{b[off:][:n], b[off+n:][:size[0]], b[off+3*n:][:size[1]]}
				want := uint64(n)<<48 + uint64(size[0])<<32 + uint64(size[1])
				at := 0
				for _, part := range parts {
					want += plain(part, at%limit)
					at = next(at + len(part))
				}
				if got := Sum(parts[0], parts[1], parts[2]); got != want {
					t.Fatalf("%d and %d bytes from %d: %#x, want %#x", n, size, off, got, want)
				}
			}
		}
	}
}

// TestVectors: PROTOCOL §2.2 gives these; another program has computed them from its words.
func TestVectors(t *testing.T) {
	b := make([]byte, 300)
	for i := range b {
		b[i] = byte(i)
	}
	for _, c := range []struct {
		a, b, c []byte
		want    string
	}{
		{nil, nil, nil, "0"},
		{b[:48], b[:1], nil, vectorShort},
		{b[:48], b[:16], b, vectorLong},
	} {
		if got := fmt.Sprintf("%x", Sum(c.a, c.b, c.c)); got != c.want {
			t.Errorf("%d, %d and %d bytes: %s, want %s", len(c.a), len(c.b), len(c.c), got, c.want)
		}
	}
}

const (
	vectorShort = "aff0fcba16c3c01e"
	vectorLong  = "4a5340aef3ba0f7f"
)

// Every bit counts, and so does every length: also of bytes that are 0.
func TestDamage(t *testing.T) {
	for _, n := range []int{0, 1, 7, 63, 64, 65, 1392, 8900} {
		b := random(uint64(n), n)
		head := b[:min(n, 48)]
		rest := b[min(n, 48):]
		want := Sum(head, rest, nil)
		for bit := range 8 * n {
			b[bit/8] ^= 1 << (bit % 8)
			if Sum(head, rest, nil) == want {
				t.Fatalf("bit %d of %d bytes does not count", bit, n)
			}
			b[bit/8] ^= 1 << (bit % 8)
		}
		if Sum(head, append(rest[:len(rest):len(rest)], 0), nil) == want {
			t.Errorf("%d bytes and a zero are taken for %d bytes", n, n)
		}
	}
	zeros := make([]byte, 4*limit)
	if Sum(nil, nil, zeros) == Sum(nil, nil, zeros[1:]) || Sum(zeros[:64], nil, zeros) == Sum(nil, zeros[:64], zeros) {
		t.Error("the lengths of zeros do not count")
	}
}

func TestNoAllocation(t *testing.T) {
	b := random(1, 1472)
	if n := testing.AllocsPerRun(100, func() { Sum(b[:48], b[64:81], b[81:]) }); n > 0 {
		t.Errorf("%g allocations", n)
	}
}

func BenchmarkSum(b *testing.B) {
	for _, n := range []int{64, 1472, 8972} {
		pkt := random(1, n+16)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.SetBytes(int64(n))
			for b.Loop() {
				Sum(pkt[:48], pkt[48:64], pkt[64:])
			}
		})
	}
}
