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
	count := 20 + s.shared.IntN(200)
	workers := 1 + s.shared.IntN(4)
	if a.p.Rank() == server {
		serve(a, s, workers)
		return
	}
	var group sync.WaitGroup
	for i := range clients {
		s.act2(&group, fmt.Sprintf("client %d", i), func(a *actor) { ask(a, s, server, i, count) })
	}
	a.do("wait for the own clients", func() error { group.Wait(); return nil })
	if s.out != nil {
		a.call("Port.Close", s.out.Close)
	}
	a.meet(s, "all is answered")
}

// serve answers requests: one goroutine receives them, and passes them by a channel to workers, which send the
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
	requests := make(chan weft.Message)
	var group sync.WaitGroup
	for i := range workers {
		s.act2(&group, fmt.Sprintf("worker %d", i), func(a *actor) {
			for m := range requests {
				back := answers[m.Data[8]]
				a.call(fmt.Sprintf("Send(%d) of an answer", m.From), func() error { return back.Send(a.ctx, m.From, m.Data) })
				m.Release()
			}
		})
	}
	s.act2(&group, "receiver", func(a *actor) {
		defer close(requests)
		for ctx.Err() == nil && !a.quit {
			var m weft.Message
			err := a.do("Recv of a request", func() (err error) { m, err = port.Recv(ctx); return err })
			if a.judge("Recv", err, true) == fine {
				a.do("hand over", func() error { requests <- m; return nil })
			}
		}
	})
	a.meet(s, "all is answered")
	cancel()
	a.do("wait for the own workers", func() error { group.Wait(); return nil })
	for _, p := range append(answers[1:], port) {
		a.call("Port.Close", p.Close)
	}
}

// ask asks, and checks that each answer is that to its question.
func ask(a *actor, s *scene, server, number, count int) {
	port, ok := open(a, s.channel+1+number)
	if !ok {
		return
	}
	defer func() { a.call("Port.Close", port.Close) }()
	to, ok := asks(a, s)
	if !ok {
		return
	}
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

// asks opens the port by which all clients of a rank ask.
func asks(a *actor, s *scene) (port *weft.Port, ok bool) {
	s.asking.Lock()
	defer s.asking.Unlock()
	if s.out == nil {
		s.out, _ = open(a, s.channel)
	}
	return s.out, s.out != nil
}
