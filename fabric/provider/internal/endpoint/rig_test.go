package endpoint

import (
	"bytes"
	"fmt"
	"testing"

	"weft/internal/waittest"
)

// A party is an endpoint of a test, with the rings that a program would read.
type party struct {
	*Endpoint
	sent, received *Ring
	counters       Counters
	memory         Memory
}

// job returns the environment of the rank of a job, as Open MPI sets it.
func job(rank, size int) func(string) string {
	vars := map[string]string{
		"OMPI_COMM_WORLD_RANK": fmt.Sprint(rank), "OMPI_COMM_WORLD_SIZE": fmt.Sprint(size), transportKey: "a key",
		envBind: "127.0.0.1",
	}
	return func(name string) string { return vars[name] }
}

func newRing(size int) *Ring {
	return &Ring{Head: new(uint64), Tail: new(uint64), Entries: make([]Entry, size)}
}

// open opens the endpoint of a rank.
func open(t *testing.T, rank, size int) *party {
	t.Helper()
	p := &party{sent: newRing(16), received: newRing(16), counters: Counters{
		new(Counter), new(Counter), new(Counter), new(Counter), new(Counter), new(Counter),
	}}
	e, warning, err := Open(Report{p.sent, p.received, p.counters}, &p.memory, job(rank, size))
	if err != nil || warning != nil {
		t.Fatal(err, warning)
	}
	p.Endpoint = e
	return p
}

// pair opens two endpoints that know each other: the first is 0 to the second, and the second 1 to the first.
func pair(t *testing.T) (a, b *party) {
	t.Helper()
	a = open(t, 0, 2)
	b = open(t, 1, 2)
	introduce(t, a, 1, b)
	introduce(t, b, 0, a)
	t.Cleanup(func() {
		go b.Close() // they wait for each other
		a.Close()
	})
	return a, b
}

// introduce inserts an endpoint.
func introduce(t *testing.T, p *party, addr uint64, other *party) {
	t.Helper()
	text := other.Name()
	if err := p.Insert(addr, text[:]); err != nil {
		t.Fatal(err)
	}
}

// next waits for the next entry of a ring, while both endpoints run the protocol.
func next(t *testing.T, r *Ring, all ...*party) (e Entry) {
	t.Helper()
	waittest.Until(t, "an entry", func() bool {
		for _, p := range all {
			p.Progress()
		}
		if *r.Head == *r.Tail {
			return false
		}
		e = r.Entries[*r.Head%uint64(len(r.Entries))]
		*r.Head++
		return true
	})
	return e
}

// must ends the test if there is an error.
func must(t *testing.T, err Errno) {
	t.Helper()
	if err != ErrNone {
		t.Fatalf("error %d", err)
	}
}

// send sends a message as soon as there is room.
func send(t *testing.T, p *party, s *Send) {
	t.Helper()
	var err Errno
	waittest.Until(t, "room", func() bool { err = p.Send(s); return err != ErrAgain })
	must(t, err)
}

// text returns n bytes that depend on a number.
func text(n, number int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i*7 + number + i>>8)
	}
	return b
}

// same ends the test unless the bytes are those of a text.
func same(t *testing.T, got []byte, number int) {
	t.Helper()
	if !bytes.Equal(got, text(len(got), number)) {
		t.Errorf("message %d: other bytes than were sent", number)
	}
}
