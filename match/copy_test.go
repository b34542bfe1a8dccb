package match

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"weft"
)

// With Copy nothing stays in a ring while a receive waits. What takes no room there
// is left, and a receive that finds its message copies nothing.
func TestCopy(t *testing.T) {
	text := func(i int) string {
		if i%2 == 1 {
			return fmt.Sprint("short ", i)
		}
		return strings.Repeat(string(rune('a'+i)), 100) // 128 bytes of the ring
	}
	over, cancel := context.WithCancel(context.Background())
	cancel()
	for _, copies := range []bool{false, true} {
		r := newRig(t, &Config{Copy: copies}, nil)
		want := func(inRing int, copied uint64) {
			t.Helper()
			if !copies {
				inRing, copied = inRing+int(copied)*128, 0
			}
			if s := r.Stats(); s.InRing != inRing || s.Copied != copied {
				t.Errorf("copies: %v: %+v", copies, s)
			}
		}
		for i := range 12 {
			r.send(1, uint64(i), text(i))
		}
		d, err := r.Recv(r.ctx, 1, 6, Exact)
		r.want(text(6), d, err)
		if _, err := r.TryRecv(2, 0, 0); err != weft.ErrWouldBlock {
			t.Fatal(err)
		}
		want(5*128, 0)
		if _, err := r.Recv(over, 2, 0, 0); !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		want(0, 5)
		r.send(3, 12, text(12))
		if _, err := r.Recv(over, 2, 0, 0); !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		want(0, 6)
		for i := range 13 {
			if i != 6 {
				d, err := r.Recv(r.ctx, Any, uint64(12-i), Exact)
				r.want(text(12-i), d, err)
			}
		}
		if s := r.Stats(); s.InRing != 0 || s.Unexpected.Len != 0 {
			t.Errorf("%+v", s)
		}
	}
}

// A full ring holds its sender back, and nobody else; if messages are copied out of
// it, nobody.
func TestFullRing(t *testing.T) {
	const (
		n    = 20
		size = 200
	)
	box := &weft.MailboxConfig{Rings: []int{2048, 2048, 2048}, Table: map[int]int{1: 1, 2: 2}}
	flood := func(r *rig) chan error {
		sent := make(chan error)
		go func() {
			var err error
			for i := 0; i < n && err == nil; i++ {
				err = r.senders[1].PushTagged(r.ctx, uint64(i), make([]byte, size))
			}
			sent <- err
		}()
		return sent
	}
	r := newRig(t, nil, box)
	sent := flood(r)
	for r.Stats().Unexpected.Len < 2048/256 { // as much as goes in
		if _, err := r.TryRecv(1, n-1, Exact); err != weft.ErrWouldBlock {
			t.Fatal(err)
		}
	}
	r.send(2, 0, "other")
	d, err := r.Recv(r.ctx, 2, 0, Exact)
	r.want("other", d, err)
	if s := r.Stats(); s.Unexpected.Len != 2048/256 {
		t.Errorf("%+v", s)
	}
	for i := range uint64(n) {
		d, err := r.Recv(r.ctx, 1, i, Exact)
		r.want(string(make([]byte, size)), d, err)
	}
	if err := <-sent; err != nil {
		t.Error(err)
	}

	r = newRig(t, &Config{Copy: true}, box)
	sent = flood(r)
	d, err = r.Recv(r.ctx, 1, n-1, Exact) // the last one first
	r.want(string(make([]byte, size)), d, err)
	if err := <-sent; err != nil {
		t.Error(err)
	}
}
