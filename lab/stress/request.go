package stress

import (
	"context"
	"encoding/binary"
	"fmt"
	"sync"

	"weft"
)

// request: one member serves: one goroutine receives, hands requests over to others, and
// these answer. The others call it, each by several goroutines with ports of their own.
func request(s *scene) {
	a := s.actor(s.name + " main")
	defer a.end()
	server := s.members[s.shared.IntN(len(s.members))]
	clients := 1 + s.shared.IntN(channels-1)
	count := s.scaled(20 + s.shared.IntN(200))
	workers := 1 + s.shared.IntN(4)
	if a.p.Rank() == server {
		serve(a, s, workers)
		return
	}
	if out, ok := open(a, s.channel); ok { // by which all clients of this rank ask
		group := crew{p: a.p}
		for i := range clients {
			s.act2(&group, fmt.Sprintf("client %d", i), func(a *actor) { ask(a, s, out, server, i, count) })
		}
		a.do("wait for the own clients", func() error { group.Wait(); return nil })
		a.call("Port.Close", out.Close)
	}
	a.meet(s, "all is answered")
}

// requests are those that have been received and not yet answered.
type requests struct {
	mu    sync.Mutex
	all   []weft.Message
	ended bool
}

// put hands a request to the workers.
func (q *requests) put(m weft.Message) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.all = append(q.all, m)
}

// end says that no more requests come.
func (q *requests) end() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.ended = true
}

// take waits for a request. It returns false if no more come.
func (q *requests) take(a *actor) (m weft.Message, ok bool) {
	over := false
	for !ok && !over {
		_ = a.await(context.Background(), func() bool {
			q.mu.Lock()
			defer q.mu.Unlock()
			return len(q.all) > 0 || q.ended
		})
		q.mu.Lock()
		if ok = len(q.all) > 0; ok {
			m = q.all[0]
			q.all = q.all[1:]
		}
		over = q.ended
		q.mu.Unlock()
	}
	return m, ok
}

// serve answers requests: one goroutine receives them, and passes them to workers, which send the
// answers. It ends when all ranks say that all is answered.
func serve(a *actor, s *scene, workers int) {
	port, ok := open(a, s.channel)
	if !ok {
		a.meet(s, "all is answered")
		return
	}
	answers := make([]*weft.Port, channels)
	for i := 1; i < channels; i++ {
		if answers[i], ok = open(a, s.channel+i); !ok {
			a.meet(s, "all is answered")
			return
		}
	}
	ctx, cancel := context.WithCancel(a.ctx)
	group := crew{p: a.p}
	q := &requests{}
	for i := range workers {
		s.act2(&group, fmt.Sprintf("worker %d", i), func(a *actor) {
			for m, ok := q.take(a); ok; m, ok = q.take(a) {
				back := answers[m.Data[8]]
				a.call(fmt.Sprintf("Send(%d) of an answer", m.From), func() error { return back.Send(a.ctx, m.From, m.Data) })
				m.Release()
			}
		})
	}
	s.act2(&group, "receiver", func(a *actor) {
		for ctx.Err() == nil && !a.quit {
			var m weft.Message
			err := a.do("Recv of a request", func() (err error) { m, err = port.Recv(ctx); return err })
			if a.judge("Recv", err, true) == fine {
				q.put(m)
				a.changed()
			}
		}
		q.end()
		a.changed()
	})
	a.meet(s, "all is answered")
	cancel()
	a.changed()
	a.do("wait for the own workers", func() error { group.Wait(); return nil })
	for _, p := range append(answers[1:], port) {
		a.call("Port.Close", p.Close)
	}
}

// ask asks, and checks that each answer is that to its question.
func ask(a *actor, s *scene, to *weft.Port, server, number, count int) {
	port, ok := open(a, s.channel+1+number)
	if !ok {
		return
	}
	defer func() { a.call("Port.Close", port.Close) }()
	b := make([]byte, 9+a.rng.IntN(300))
	b[8] = byte(1 + number)
	for i := range count {
		binary.LittleEndian.PutUint64(b, uint64(i))
		if a.call(fmt.Sprintf("Send(%d) of a request", server), func() error { return to.Send(a.ctx, server, b) }) != fine {
			return
		}
		var m weft.Message
		if a.call("RecvFrom the server", func() (err error) { m, err = port.RecvFrom(a.ctx, server); return err }) != fine {
			return
		}
		if len(m.Data) != len(b) || binary.LittleEndian.Uint64(m.Data) != uint64(i) {
			a.found("%s: the answer to question %d is that to another", a.name, i)
		}
		m.Release()
	}
}
