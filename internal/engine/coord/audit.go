package coord

import "fmt"

// A State is what one rank knows of an object: as a participant, or as its home.
type State struct {
	What, Name string `json:",omitempty"`
	ID         uint64
	Holds      bool   `json:",omitempty"` // the lock
	Owns       bool   `json:",omitempty"` // its token, without using it
	Waits      int    `json:",omitempty"` // operations
	Want       uint64 `json:",omitempty"` // the phase that is waited for
	Arrived    uint64 `json:",omitempty"` // the last phase of a barrier at which this rank has
	Done       uint64 `json:",omitempty"` // the last one that is over
	Members    []int  `json:",omitempty"` // of the barrier; none: all
	Home       bool   `json:",omitempty"` // of a home:
	Holders    []int  `json:",omitempty"` // the ranks that hold it, as far as the home knows
	Queue      []int  `json:",omitempty"` // the ranks that wait for it, in order
}

// What says what an object is.
func (o *Object) What() string { return o.snapshot().What }

// States returns the state of everything that this rank uses or is the home of.
func (l *Layer) States() (list []State) {
	for _, id := range sorted(l.objects) {
		o := l.objects[id]
		s := o.snapshot()
		s.Name = o.Name
		s.ID = id
		list = append(list, s)
	}
	for _, id := range sorted(l.homes) {
		s := l.homes[id].snapshot()
		s.ID = id
		s.Home = true
		list = append(list, s)
	}
	return list
}

// snapshot returns the state of an object, at a participant or at its home, for States.
func (q *queueLock) snapshot() State {
	s := State{What: "lock", Holds: q.state == held || q.state == queued, Owns: q.state == last || q.state == lastWait}
	if q.op != nil {
		s.Waits = 1
	}
	if q.next >= 0 {
		s.Queue = []int{q.next}
	}
	return s
}

func (p *permits) snapshot() State {
	s := State{What: "lock", Holds: p.holds > 0}
	switch p.o.Class {
	case Semaphore:
		s.What = "semaphore"
	case RWLock:
		s.What = "read-write lock"
	}
	s.Waits = p.asked.Len()
	return s
}

func (c *cond) snapshot() State {
	s := State{What: "condition", Waits: c.asked.Len()}
	for _, op := range c.waiters {
		if op != nil {
			s.Waits++
		}
	}
	return s
}

func (b *barrier) snapshot() State {
	s := State{What: "barrier", Arrived: b.arrived, Done: b.done, Members: b.o.Members}
	for op := b.waiting.First(); op != nil; op = op.link.Next() {
		s.Waits++
		s.Want = op.N
	}
	return s
}

func (r *regions) snapshot() State {
	s := State{What: "RBCQ-1 barrier", Members: r.o.Members}
	if r.op != nil {
		s.Waits = 1
	}
	return s
}

func (h *lockHome) snapshot() State {
	s := State{What: "lock"}
	for _, e := range h.queue {
		s.Queue = append(s.Queue, e.rank)
	}
	return s
}

func (h *permitHome) snapshot() State {
	st := State{What: "lock"}
	if !h.isLock() {
		st.What = "semaphore"
	}
	for _, o := range h.granted {
		st.Holders = append(st.Holders, o.rank)
	}
	for _, o := range h.waiting {
		st.Queue = append(st.Queue, o.rank)
	}
	return st
}

func (h *condHome) snapshot() State {
	s := State{What: "condition"}
	for _, o := range h.waiting {
		s.Queue = append(s.Queue, o.rank)
	}
	return s
}

func (h *regionsHome) snapshot() State {
	s := State{What: "RBCQ-1 barrier", Done: h.c.Barrier}
	for i, head := range h.c.Head {
		if head {
			s.Queue = append(s.Queue, i)
		}
	}
	return s
}

// Unfinished says what operations have not ended, and what is not settled, a
// line each.
func (l *Layer) Unfinished() (lines []string) {
	for _, s := range l.States() {
		if !s.Home && s.Waits > 0 {
			lines = append(lines, fmt.Sprintf("%d operations on the %s %q have not ended", s.Waits, s.What, s.Name))
		}
	}
	for _, id := range sorted(l.objects) {
		o := l.objects[id]
		switch u := o.participant.(type) {
		case *queueLock:
			if u.state == wait && u.err == nil && u.op == nil {
				lines = append(lines, fmt.Sprintf("a request for the lock %q that was given up is under way", o.Name))
			}
		case *permits:
			if len(u.givenUp) > 0 && u.err == nil {
				lines = append(lines, fmt.Sprintf("%d requests for %v that were given up are under way", len(u.givenUp), o.sig))
			}
		}
	}
	for _, id := range sorted(l.homes) {
		if m, ok := l.homes[id].(*lockHome); ok && m.repair != nil {
			lines = append(lines, "a lock's queue is being repaired")
		}
	}
	return lines
}
