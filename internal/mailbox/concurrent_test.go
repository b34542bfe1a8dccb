package mailbox

import (
	"bytes"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"
)

// Senders on threads of their own share a ring, the owner's engine writes and gives up
// some, the owner releases out of order: everything arrives once, in the order of its
// sender.
func TestConcurrent(t *testing.T) {
	const (
		senders = 4
		each    = 3000
		size    = 64 * 20
	)
	// Ranks 1 and 2 share ring 0 with the engine, for rank 0; 3 has one, and 4 writes packets to it by its number.
	b, r := newBox(t, 16, []int{size, size}, 0, 0, 0, 1, NoRing)
	var all sync.WaitGroup
	for rank := 1; rank <= senders; rank++ {
		s := join(t, b, rank)
		all.Add(1)
		go func() {
			defer all.Done()
			pushAll(t, s, rank, each, size)
			s.Leave()
		}()
	}
	all.Add(1)
	go func() {
		defer all.Done()
		addAll(t, b, each, size)
	}()
	over := make(chan bool)
	go func() { all.Wait(); close(over) }()
	c := collected{t: t, r: r, rand: rand.New(rand.NewPCG(9, 9)), next: make([]uint64, senders+1)}
	for ended := false; ; {
		if c.collect() {
			continue
		}
		if ended {
			break
		}
		select {
		case <-over:
			ended = true
		default:
			runtime.Gosched()
		}
	}
	for rank := 1; rank <= senders; rank++ {
		if c.next[rank] != each {
			t.Errorf("%d messages of rank %d, not %d", c.next[rank], rank, each)
		}
	}
	empty(t, b, r)
}

// pushAll pushes so many messages as a sender. Rank 4 names the ring of each.
func pushAll(t *testing.T, s *Writer, rank, each, size int) {
	rand := rand.New(rand.NewPCG(uint64(rank), 1))
	entry := NoRing
	if rank == 4 {
		entry = 1
	}
	for i := range uint64(each) {
		data := letter(i, rand.IntN(size/3))
		for {
			_, _, o := s.Push(entry, Auto, i, data, 0)
			if o == Done {
				break
			}
			if o != Full {
				t.Errorf("rank %d, message %d: outcome %d", rank, i, o)
				return
			}
			runtime.Gosched()
		}
	}
}

// addAll adds so many messages as the owner's engine, and abandons some.
func addAll(t *testing.T, b *Box, each uint64, size int) {
	s := b.Owner()
	rand := rand.New(rand.NewPCG(0, 1))
	for i := uint64(0); i < each; {
		a := Arrival{Tag: i, Total: 41 + rand.IntN(size/4)}
		if o := s.hold(0, a.Total, &a.pos); o == Full {
			runtime.Gosched()
			continue
		}
		a.open = true
		if rand.IntN(3) == 0 {
			b.Abandon(&a)
		} else if o := s.Add(&a, letter(i, a.Total)); o != Done {
			t.Errorf("the engine's message %d: outcome %d", i, o)
			return
		}
		i++
	}
}

// collected is what an owner has of all its senders.
type collected struct {
	t    *testing.T
	r    *Reader
	rand *rand.Rand
	next []uint64 // tag, by sender
	held []Record
}

// collect takes what has come, and releases some of it; false if there was nothing.
func (c *collected) collect() bool {
	var rec Record
	got := c.r.Take(&rec)
	if got {
		if next := &c.next[rec.From]; rec.From > 0 && rec.Tag != *next || rec.Tag < *next || !rec.Last {
			c.t.Errorf("rank %d: %+v, not message %d", rec.From, rec, *next)
		}
		c.next[rec.From] = rec.Tag + 1
		if rec.InRecord {
			c.judge(&rec)
		} else {
			c.held = append(c.held, rec)
		}
		c.r.Done()
	}
	if len(c.held) > 3 || !got && len(c.held) > 0 {
		i := c.rand.IntN(len(c.held))
		c.judge(&c.held[i])
		c.r.Release(c.held[i].Extent)
		c.held = append(c.held[:i], c.held[i+1:]...)
		return true
	}
	return got
}

func (c *collected) judge(rec *Record) {
	if !bytes.Equal(c.r.text(rec), letter(rec.Tag, rec.Total)) {
		c.t.Errorf("message %d of rank %d is not what was sent", rec.Tag, rec.From)
	}
}
