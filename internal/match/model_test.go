package match

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// A model is the rules as simply as they can be said: all messages in one slice
// in order of arrival, all receives in one in the order in which they were posted,
// and the first that agrees.
type model struct {
	messages []envelope
	receives []envelope
}

type envelope struct {
	id, source int
	tag, mask  uint64
}

func agree(r, m envelope) bool {
	return (r.source == Any || r.source == m.source) && r.tag&r.mask == m.tag&r.mask
}

func (s *model) arrive(m envelope) (id int, ok bool) {
	i := slices.IndexFunc(s.receives, func(r envelope) bool { return agree(r, m) })
	if i < 0 {
		s.messages = append(s.messages, m)
		return 0, false
	}
	id = s.receives[i].id
	s.receives = slices.Delete(s.receives, i, i+1)
	return id, true
}

func (s *model) look(m envelope) (id int, ok bool) {
	i := slices.IndexFunc(s.receives, func(r envelope) bool { return agree(r, m) })
	if i < 0 {
		return 0, false
	}
	return s.receives[i].id, true
}

func (s *model) take(r envelope, leave bool) (id int, ok bool) {
	i := slices.IndexFunc(s.messages, func(m envelope) bool { return agree(r, m) })
	if i < 0 {
		return 0, false
	}
	id = s.messages[i].id
	if !leave {
		s.messages = slices.Delete(s.messages, i, i+1)
	}
	return id, true
}

func (s *model) post(r envelope) (id int, ok bool) {
	if id, ok = s.take(r, false); !ok {
		s.receives = append(s.receives, r)
	}
	return id, ok
}

func (s *model) drop(which func(r envelope) bool) (id int, ok bool) {
	i := slices.IndexFunc(s.receives, which)
	if i < 0 {
		return 0, false
	}
	id = s.receives[i].id
	s.receives = slices.Delete(s.receives, i, i+1)
	return id, true
}

// arrive gives a message to the receive that it matches, or keeps it.
func arrive[M, R any](q *Queues[M, R], from int, tag uint64, m M) (r R, ok bool) {
	if r, ok = q.Match(from, tag); !ok {
		q.Keep(from, tag, m)
	}
	return r, ok
}

// compare runs steps that next chooses on Queues and on the model, and returns
// how they differ.
func compare(steps int, next func(n int) int) error {
	const sources = 4
	q := NewQueues[int, int](1)
	q.Grow(sources)
	s := &model{}
	tickets := map[int]Ticket[int]{}
	masks := []uint64{Exact, Exact, AnyTag, 1, 2, 1 << 63}
	var before Stats
	for i := range steps {
		e := envelope{id: i, source: next(sources), tag: uint64(next(4)) | uint64(next(2))<<63, mask: masks[next(len(masks))]}
		kind := next(17)
		if kind >= 7 && kind != 15 && next(3) == 0 {
			e.source = Any
		}
		var got, want int
		var ok, should bool
		switch {
		case kind < 7:
			got, ok = arrive(q, e.source, e.tag, i)
			want, should = s.arrive(e)
		case kind < 13:
			var t Ticket[int]
			got, _, t, ok = q.Post(e.source, e.tag, e.mask, i)
			want, should = s.post(e)
			tickets[i] = t
		case kind == 13:
			got, _, ok = q.Peek(e.source, e.tag, e.mask)
			want, should = s.take(e, true)
		case kind == 14:
			id := next(i + 1) // of whatever has been posted, long gone or never
			ok = q.Cancel(tickets[id])
			_, should = s.drop(func(r envelope) bool { return r.id == id })
		case kind == 15:
			got, ok = q.Look(e.source, e.tag)
			want, should = s.look(e)
		default:
			got, ok = q.Withdraw(e.source)
			want, should = s.drop(func(r envelope) bool { return r.source == e.source })
		}
		if got != want || ok != should {
			return fmt.Errorf("step %d, kind %d, %+v: %d, %v; the model says %d, %v", i, kind, e, got, ok, want, should)
		}
		st := q.Stats()
		if st.Posted.Len != len(s.receives) || st.Unexpected.Len != len(s.messages) {
			return fmt.Errorf("step %d: %+v, but %d receives and %d messages", i, st, len(s.receives), len(s.messages))
		}
		if l := st.Unexpected.Looked - before.Unexpected.Looked; l > uint64(before.Unexpected.Len) {
			return fmt.Errorf("step %d: looked at %d of %d messages", i, l, before.Unexpected.Len)
		}
		if l := st.Posted.Looked - before.Posted.Looked; l > uint64(before.Posted.Len) {
			return fmt.Errorf("step %d: looked at %d of %d receives", i, l, before.Posted.Len)
		}
		before = st
	}
	return nil
}

func TestModel(t *testing.T) {
	seeds := 5000
	if testing.Short() {
		seeds = 1000
	}
	for seed := range seeds {
		if err := compare(100, rand.New(rand.NewPCG(uint64(seed), 1)).IntN); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
	}
}

func FuzzModel(f *testing.F) {
	f.Add([]byte("0123456789abcdefghijklmnopqrstuvwxyz"))
	f.Fuzz(func(t *testing.T, b []byte) {
		next := func(n int) int {
			if len(b) == 0 {
				return 0
			}
			v := int(b[0]) % n
			b = b[1:]
			return v
		}
		if err := compare(min(len(b)/4, 200), next); err != nil {
			t.Fatal(err)
		}
	})
}
