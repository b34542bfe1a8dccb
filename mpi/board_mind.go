package mpi

import (
	"context"
	"sync/atomic"
	"time"
)

// A minder is a goroutine that carries on what has been begun on a board while the program computes. To wake it costs
// more than a short operation, and is in vain if the program waits at once. So a board learns: if the program has
// waited before the minder came, the next minder sees first whether the program waits; and if that has not, the next
// one comes at once again. The board's lock guards it.
type minder struct {
	runs   bool
	prompt bool   // it comes at once
	begun  uint32 // the number of the last operation that was only begun
	came   uint32 // the number of the last one that a minder has come to in time
	waiter waiter
	never  atomic.Bool
}

const (
	patience = time.Millisecond // after which a minder sees that a program does not wait
	mostVain = 100              // so often in a row it does so for nothing
)

// start reports whether a minder is to be started.
func (m *minder) start() bool {
	idle := !m.runs
	m.runs = true
	return idle
}

// needed reports whether a minder is to be started for a call that has been begun.
func (m *minder) needed(k *call) bool {
	m.begun = uint32(k.head.tag)
	if m.runs && m.prompt {
		m.came = m.begun
	}
	return m.start()
}

// overtaken notes that the program waits for a call.
func (m *minder) overtaken(k *call) {
	if int32(uint32(k.head.tag)-m.came) > 0 && !k.over.Load() {
		m.prompt = false
	}
}

// mind is what the minder does.
func (s *board) mind() {
	q := &s.queue
	m := &q.minder
	s.mu.Lock()
	defer s.mu.Unlock()
	defer func() { m.runs = false }()
	for vain := 0; vain < mostVain; {
		last := m.begun
		if !m.prompt || q.waiters > 0 {
			s.mu.Unlock()
			err := s.c.w.p.Sleep(context.Background(), patience)
			s.mu.Lock()
			if err != nil {
				return
			}
		}
		switch {
		case len(q.calls) == 0 && m.prompt:
			return
		case len(q.calls) == 0 || q.waiters > 0:
			vain++
		case !m.prompt && int32(uint32(q.calls[0].head.tag)-last) > 0: // begun since
			vain = 0
		default:
			m.prompt = true
			m.came = m.begun
			s.lead()
			vain = 0
		}
	}
}

// lead carries on what is first in the queue, and waits once for a member that is awaited. The lock is held, but not
// meanwhile.
func (s *board) lead() {
	c := s.c
	why := s.advance()
	s.queue.minder.waiter.set(s, &s.queue.minder.never)
	member := s.queue.awaits.member
	idle := len(s.queue.calls) == 0
	s.mu.Unlock()
	defer s.mu.Lock()
	if s.spoil(why); why != nil || idle {
		return
	}
	c.w.mu.Lock()
	b := c.bind(context.Background())
	c.w.mu.Unlock()
	err := c.board.bell.Wait(b, s.queue.minder.waiter.ready, c.group.at(member))
	if err != nil {
		err = c.unmet(err)
	}
	c.w.mu.Lock()
	c.unbind(b)
	c.w.mu.Unlock()
	if err == nil {
		return
	}
	s.mu.Lock()
	why = nil
	if len(s.queue.calls) > 0 {
		why = s.fail(s.queue.calls[0], err)
	}
	s.mu.Unlock()
	s.spoil(why)
}
