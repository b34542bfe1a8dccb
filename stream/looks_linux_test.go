package stream

import (
	"errors"
	"io"
	"net"
	"testing"
	"testing/synctest"
)

// A backlog that is full has no room until Accept has taken a connection, or it is closed.
func TestBacklogIsFull(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b backlog
		b.init(2)
		rooms := 0
		room := func() {
			b.room()
			b.mu.Lock()
			rooms++
			b.mu.Unlock()
		}
		for i := range 2 {
			if room(); b.full() || rooms != i+1 {
				t.Errorf("it is full of %d", i)
			}
			c, _ := net.Pipe()
			if !b.put(c) {
				t.Error("it takes nothing")
			}
		}
		go room()
		synctest.Wait()
		if !b.full() || rooms != 2 {
			t.Errorf("full: %t, and there has been room %d times", b.full(), rooms)
		}
		if c, err := b.accept(); c == nil || err != nil {
			t.Errorf("%v, %v", c, err)
		}
		synctest.Wait()
		if b.full() || rooms != 3 {
			t.Errorf("full: %t, and there has been room %d times", b.full(), rooms)
		}
		b.fail(io.ErrClosedPipe)
		if c, err := b.accept(); c == nil || err != nil {
			t.Errorf("a connection goes ahead of an error: %v, %v", c, err)
		}
		if c, err := b.accept(); c != nil || err != io.ErrClosedPipe {
			t.Errorf("%v, %v", c, err)
		}
		go func() {
			c, err := b.accept()
			if c != nil || err != nil {
				t.Errorf("closed, it gives %v, %v", c, err)
			}
			room()
		}()
		synctest.Wait()
		if !b.close() || b.close() {
			t.Error("it was not open, or it is")
		}
		synctest.Wait()
		if c, _ := net.Pipe(); !b.full() || b.put(c) || rooms != 4 {
			t.Errorf("closed, it takes more, or blocks: %d", rooms)
		}
	})
}

// hesitant is a Reader that has nothing so many times before each byte of its text.
type hesitant struct {
	text  string
	times int
	left  int
}

func (h *hesitant) Read(b []byte) (int, error) {
	if h.left--; h.left >= 0 {
		return 0, nil
	}
	h.left = h.times
	if h.text == "" {
		return 0, io.EOF
	}
	b[0] = h.text[0]
	h.text = h.text[1:]
	return 1, nil
}

// ReadFrom gives up a Reader that has had nothing a hundred times in a row.
func TestReadFromHesitates(t *testing.T) {
	dialled, accepted := pair(t, &Config{})
	if n, err := dialled.ReadFrom(&hesitant{text: "abc", times: 99, left: 99}); n != 3 || err != nil {
		t.Errorf("%d bytes, %v", n, err)
	}
	if n, err := dialled.ReadFrom(&hesitant{text: "d", times: 100, left: 5}); n != 1 || !errors.Is(err, io.ErrNoProgress) {
		t.Errorf("%d bytes, %v", n, err)
	}
	b := make([]byte, 4)
	if _, err := io.ReadFull(accepted, b); err != nil || string(b) != "abcd" {
		t.Errorf("%q, %v", b, err)
	}
}

// A look at the socket finds what has come since, and not what has been read before.
func TestLookFindsNothingTwice(t *testing.T) {
	dialled, accepted := pair(t, configs["early"])
	b := make([]byte, 8)
	for _, text := range []string{"first", "second"} {
		if _, err := accepted.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
		if n, err := io.ReadFull(dialled, b[:len(text)]); err != nil || string(b[:n]) != text {
			t.Fatalf("%q, %v", b[:n], err)
		}
		dialled.rd.Lock()
		dialled.look()
		if said := dialled.early.said; len(said) > 0 {
			t.Errorf("%q is there once more", said)
		}
		dialled.rd.Unlock()
	}
	if _, err := accepted.Write([]byte("xy")); err != nil {
		t.Fatal(err)
	}
	dialled.rd.Lock()
	dialled.look()
	dialled.rd.Unlock()
	if n, err := io.ReadFull(dialled, b[:2]); err != nil || string(b[:n]) != "xy" {
		t.Errorf("%q, %v", b[:n], err)
	}
	accepted.Close()
	dialled.rd.Lock()
	dialled.look()
	dialled.rd.Unlock()
	if n, err := dialled.Read(b); n != 0 || err != io.EOF {
		t.Errorf("%d bytes, %v after the end", n, err)
	}
}
