package match

import (
	"fmt"
	"strings"
	"testing"
)

// A script is what happens to queues, a step a line, with what must come of it:
//
//	receive NAME SOURCE TAG [MASK] = MESSAGE or -
//	message NAME FROM TAG = RECEIVE or -
//	peek SOURCE TAG [MASK] = MESSAGE or -
//	cancel NAME = true or false
//	withdraw SOURCE = RECEIVE or -
//
// A source may be any, a tag or mask is in hexadecimal, a mask left out is Exact.
type script struct {
	q       *Queues[string, string]
	tickets map[string]Ticket[string]
}

func (s *script) step(line string) (got string) {
	w := strings.Fields(line)
	number := func(i int, otherwise uint64) (v uint64) {
		if i >= len(w) {
			return otherwise
		}
		fmt.Sscanf(w[i], "%x", &v)
		return v
	}
	source := func(i int) int {
		if w[i] == "any" {
			return Any
		}
		return int(number(i, 0))
	}
	var ok bool
	switch w[0] {
	case "receive":
		var t Ticket[string]
		if got, _, t, ok = s.q.Post(source(2), number(3, 0), number(4, Exact), w[1]); !ok {
			s.tickets[w[1]] = t
		}
	case "message":
		got, ok = arrive(s.q, source(2), number(3, 0), w[1])
	case "peek":
		got, _, ok = s.q.Peek(source(1), number(2, 0), number(3, Exact))
	case "withdraw":
		got, ok = s.q.Withdraw(source(1))
	case "cancel":
		return fmt.Sprint(s.q.Cancel(s.tickets[w[1]]))
	}
	if !ok {
		return "-"
	}
	return got
}

func TestRules(t *testing.T) {
	for _, c := range []struct{ name, steps string }{
		{"a message finds the receive that waits", `
			receive r 1 7 = -
			message m 1 7 = r
			message n 1 7 = -`},
		{"a receive finds the message that waits", `
			message m 1 7 = -
			receive r 1 7 = m
			receive s 1 7 = -`},
		{"the source must agree", `
			message m 1 7 = -
			receive r 2 7 = -
			message n 2 7 = r
			receive s 1 7 = m`},
		{"the tag must agree", `
			message m 1 7 = -
			receive r 1 8 = -
			receive s 1 7 = m
			message n 1 8 = r`},
		{"messages of one sender do not overtake", `
			message a 1 7 = -
			message b 1 7 = -
			message c 1 7 = -
			receive r 1 7 = a
			receive s any 7 = b
			receive t 1 0 0 = c`},
		{"but a later one is taken if the tag says so", `
			message a 1 7 = -
			message b 1 8 = -
			receive r 1 8 = b
			receive s 1 7 = a`},
		{"any source takes what arrived first", `
			message a 3 7 = -
			message b 1 7 = -
			message c 2 7 = -
			receive r 1 7 = b
			receive s any 7 = a
			receive t any 7 = c`},
		{"the receive posted first wins, from a source before any", `
			receive r 1 7 = -
			receive s any 7 = -
			message a 1 7 = r
			message b 1 7 = s`},
		{"the receive posted first wins, any before from a source", `
			receive s any 7 = -
			receive r 1 7 = -
			message a 1 7 = s
			message b 1 7 = r`},
		{"the older ones count only if they match", `
			receive a any 5 = -
			receive b 1 6 = -
			receive c any 7 = -
			receive d 1 7 = -
			message m 1 7 = c
			message n 1 7 = d
			message o 1 6 = b
			message p 9 5 = a`},
		{"only the bits of the mask are compared", `
			receive r 1 1200 ff00 = -
			message a 1 1334 = -
			message b 1 1234 = r
			peek 1 1300 ff00 = a
			receive s 1 34 ff = a`},
		{"bits of the tag outside the mask do not count", `
			receive r 1 ffff f = -
			message m 1 f = r`},
		{"a mask of nothing takes all", `
			receive r 1 123 0 = -
			message m 1 456 = r`},
		{"the highest bit counts", `
			receive r 1 8000000000000000 8000000000000000 = -
			message m 1 1 = -
			message n 1 8000000000000001 = r`},
		{"a peek leaves the message", `
			peek any 7 = -
			message m 1 7 = -
			peek any 7 = m
			peek 2 7 = -
			receive r 1 7 = m
			peek any 7 = -`},
		{"a receive given up takes nothing", `
			receive r 1 7 = -
			receive s any 7 = -
			cancel r = true
			cancel r = false
			message m 1 7 = s
			cancel s = false
			message n 1 7 = -`},
		{"a ticket is no other receive's", `
			receive r 1 7 = -
			message m 1 7 = r
			receive s 1 7 = -
			cancel r = false
			message n 1 7 = s`},
		{"withdraw is for one source", `
			receive a any 7 = -
			receive b 1 7 = -
			receive c 1 8 = -
			receive d 2 7 = -
			withdraw 1 = b
			withdraw 1 = c
			withdraw 1 = -
			message m 1 7 = a
			withdraw any = -
			message n 2 7 = d`},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := &script{NewQueues[string, string](16), map[string]Ticket[string]{}}
			for line := range strings.Lines(c.steps) {
				do, want, ok := strings.Cut(strings.TrimSpace(line), " = ")
				if !ok {
					continue
				}
				if got := s.step(do); got != want {
					t.Fatalf("%s = %s, want %s", do, got, want)
				}
			}
		})
	}
}

// A search compares the entries of its source and, of receives, those from Any:
// nothing else.
func TestLooked(t *testing.T) {
	q := NewQueues[int, int](64)
	for i := range 1000 {
		arrive(q, i%63, uint64(i), i)
	}
	q.Take(5, 5, Exact) // its first
	q.Take(5, 5, Exact) // there is none: all 15 that are left
	q.Take(Any, 999, Exact)
	if u := q.Stats().Unexpected; u.Searches != 3 || u.Looked != 1+15+999 || u.MaxLooked != 999 ||
		u.Len != 998 || u.MaxLen != 1000 || u.SumLen != 1000+999+999 {
		t.Errorf("%+v", u)
	}
	q = NewQueues[int, int](64)
	for i := range 630 {
		q.Post(i%63, uint64(i), Exact, i)
	}
	q.Post(Any, 7, Exact, 630)
	arrive(q, 7, 7, 0)        // the first from 7
	arrive(q, 62, 7, 0)       // ten from 62, and then Any
	arrive(q, 63, 7, 0)       // nothing from 63
	arrive(q, 62, 9*63+62, 0) // the last of ten
	if p := q.Stats().Posted; p.Searches != 4 || p.Looked != 1+11+0+10 || p.MaxLooked != 11 ||
		p.Len != 628 || p.MaxLen != 631 || p.SumLen != 631+630+629+629 {
		t.Errorf("%+v", p)
	}
}

// TestReturn: a message that has been taken and given back is the first again, for a receive from its source and from
// any.
func TestReturn(t *testing.T) {
	q := NewQueues[int, int](2)
	for i := range 4 {
		arrive(q, i%2, 0, i)
	}
	m, from, ok := q.Take(1, 0, AnyTag)
	if m != 1 || from != 1 || !ok {
		t.Fatal(m, from, ok)
	}
	q.Return(from, 0, m)
	for _, want := range []int{1, 0, 2, 3} {
		if m, _, ok := q.Take(Any, 0, AnyTag); !ok || m != want {
			t.Error(m, ok, want)
		}
	}
	if q.Unexpected() != 0 {
		t.Error(q.Unexpected())
	}
}

// TestReturnToEmpty: a message that is given back is the first also if it was the only one, and others follow it.
func TestReturnToEmpty(t *testing.T) {
	q := NewQueues[int, int](1)
	if !q.Idle() {
		t.Error("queues that are not used yet are not idle")
	}
	arrive(q, 0, 0, 1)
	q.Take(0, 0, AnyTag)
	if !q.Idle() {
		t.Error("a message is left")
	}
	if q.Return(0, 0, 1); q.Idle() {
		t.Error("the message is not there")
	}
	arrive(q, 0, 0, 2)
	for want := 1; want <= 2; want++ {
		if m, _, ok := q.Take(Any, 0, AnyTag); !ok || m != want {
			t.Error(m, ok, want)
		}
	}
}

func TestQueuesDoNotAllocate(t *testing.T) {
	q := NewQueues[[4]uint64, *int](64)
	r := new(int)
	var tickets [100]Ticket[*int]
	round := func() {
		for i := range 100 {
			arrive(q, i%63, uint64(i), [4]uint64{})
		}
		for i := range tickets { // the first ones find their messages
			_, _, tickets[i], _ = q.Post((i+50)%63, uint64(i+50), Exact, r)
			_, _, ticket, _ := q.Post(Any, 1<<40, Exact, r)
			q.Cancel(ticket)
		}
		for i := range 100 {
			q.Take(Any, uint64(i), AnyTag)
			q.Cancel(tickets[i])
		}
	}
	round()
	if n := testing.AllocsPerRun(100, round); n > 0 {
		t.Errorf("%v allocations", n)
	}
	if s := q.Stats(); s.Posted.Len+s.Unexpected.Len > 0 || s.Posted.MaxLen < 10 || s.Unexpected.MaxLen < 100 {
		t.Errorf("%+v", s)
	}
}
