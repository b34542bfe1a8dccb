package mem

import (
	"bytes"
	"runtime"
	"slices"
	"sync"
	"testing"
)

// Words are read, written, added to and exchanged where the offset says.
func TestWords(t *testing.T) {
	b := Aligned(32)
	Store64(b, 8, 5)
	Publish64(b, 16, 7)
	if got := Add64(b, 8, 3); got != 8 || Load64(b, 8) != 8 {
		t.Errorf("5 + 3 is %d", got)
	}
	if old := Swap64(b, 16, 9); old != 7 || Load64(b, 16) != 9 {
		t.Errorf("swapped out %d, not 7", old)
	}
	if CompareAndSwap64(b, 16, 7, 1) || !CompareAndSwap64(b, 16, 9, 1) || Load64(b, 16) != 1 {
		t.Error("compare and swap")
	}
	if Load64(b, 0) != 0 || Load64(b, 24) != 0 {
		t.Error("a neighbour was written to")
	}
}

// A word that is misaligned, or not inside the memory, is refused with a panic.
func TestWordsOutside(t *testing.T) {
	b := Aligned(32)
	for _, off := range []int{-8, 1, 4, 25, 32, 1 << 40} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("offset %d is taken", off)
				}
			}()
			Store64(b, off, 1)
		}()
	}
}

// A reader that polls the last word of what is copied finds the rest in place.
func TestLastWordIsLast(t *testing.T) {
	const words = 8
	dst := Aligned(8 * words)
	var wg sync.WaitGroup
	wg.Go(func() {
		src := Aligned(8 * words)
		for k := range uint64(20000) {
			for i := range words {
				Store64(src, 8*i, k+1)
			}
			Copy(dst, src)
			for Load64(dst, 0) != 0 { // until it has been read
				runtime.Gosched()
			}
		}
	})
	for k := range uint64(20000) {
		for Load64(dst, 8*(words-1)) != k+1 {
			runtime.Gosched()
		}
		for i := range words {
			if got := Load64(dst, 8*i); got != k+1 {
				t.Fatalf("word %d is %d, and the last one %d", i, got, k+1)
			}
		}
		Store64(dst, 0, 0)
	}
	wg.Wait()
}

// Copy copies every length, at every alignment of both sides, and nothing beyond.
func TestCopy(t *testing.T) {
	src := Aligned(2*throughCache + 64)
	for i := range src {
		src[i] = byte(i*7 + i>>8)
	}
	for _, n := range []int{0, 1, 7, 8, 9, 64, throughCache, throughCache + 1, 2*throughCache + 8} {
		for at := range 9 {
			dst := Aligned(n + 32)
			Copy(dst[at:], src[8-at:][:n])
			if !bytes.Equal(dst[at:at+n], src[8-at:][:n]) {
				t.Errorf("%d bytes at %d are not as they were", n, at)
			}
			if bytes.Count(dst[at+n:], []byte{0}) != len(dst)-at-n {
				t.Errorf("%d bytes at %d: more than that was written", n, at)
			}
		}
	}
}

// Views show the same bytes as values.
func TestViews(t *testing.T) {
	b := Aligned(16)
	v := View[uint32](b, 4)
	v[2] = 0x01020304
	if *At[uint32](b, 8) != 0x01020304 || !bytes.Equal(Bytes(v), b) || Size[uint32]() != 4 {
		t.Errorf("% x", b)
	}
}

// One goroutine at a time has a Latch, and sees what the last one wrote.
func TestLatch(t *testing.T) {
	var l Latch
	var group sync.WaitGroup
	count := Aligned(8)
	for range 4 {
		group.Go(func() {
			for range 1000 {
				l.Lock()
				Acquired(&l)
				Publish64(count, 0, Load64(count, 0)+1)
				Released(&l)
				l.Unlock()
			}
		})
	}
	group.Wait()
	if n := Load64(count, 0); n != 4000 {
		t.Errorf("counted to %d, not 4000", n)
	}
}

// TestOwn: what is asked for stays as it is, whatever its length and place.
func TestOwn(t *testing.T) {
	b := Aligned(256)
	for i := range b {
		b[i] = byte(i)
	}
	for _, n := range []int{0, 1, 63, 64, 65, 200} {
		Own(b[3 : 3+n])
	}
	for i := range b {
		if b[i] != byte(i) {
			t.Fatalf("byte %d is %d", i, b[i])
		}
	}
}

// Move copies what copy copies, whatever the lengths and where the slices lie.
func TestMove(t *testing.T) {
	const edge = 70
	src := make([]byte, 3*long+2*edge)
	for i := range src {
		src[i] = byte(i*7 + i>>8)
	}
	for _, n := range []int{0, 1, long - 1, long, long + 1, long + 63, 3 * long} {
		for _, at := range []int{0, 1, 8, 63, 64} {
			for _, from := range []int{0, 5, 64} {
				got := make([]byte, 3*long+2*edge)
				want := slices.Clone(got)
				copied := Move(got[at:at+n], src[from:])
				if copied != copy(want[at:at+n], src[from:]) || !bytes.Equal(got, want) {
					t.Fatalf("%d bytes from %d to %d differ from those of copy (%d copied)", n, from, at, copied)
				}
			}
		}
	}
	if got := make([]byte, 2*long); Move(got, src[:long]) != long || got[long] != 0 {
		t.Error("more was copied than there is")
	}
}
