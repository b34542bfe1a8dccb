package stress

import (
	"context"
	"errors"
	"fmt"
	"time"

	"weft"
)

// churn: one member opens and closes a channel again and again, while the others send to
// it, and close and open their own ends. What comes is in order, and nothing comes
// twice; what the last port accepts arrives.
func churn(s *scene) {
	a := s.actor(s.name + " main")
	defer a.end()
	receiver := s.members[s.shared.IntN(len(s.members))]
	count := s.scaled(10 + s.shared.IntN(60))
	if a.p.Rank() == receiver {
		reopen(a, s, count)
		return
	}
	seq := uint32(0)
	for seq < uint32(count) && !a.quit {
		port, ok := open(a, s.channel)
		if !ok {
			break
		}
		for range 1 + a.rng.IntN(count) {
			if seq == uint32(count) || a.quit {
				break
			}
			b := make([]byte, min(length(a.rng), 100_000))
			label{scene: s.number, from: a.p.Rank(), seq: seq, kind: data}.pack(b)
			seq++ // also if it is given up: it may be missing
			ctx := a.ctx
			cancel := context.CancelFunc(func() {})
			if a.rng.IntN(3) == 0 {
				ctx, cancel = a.brief(a.ctx)
			}
			err := a.do(fmt.Sprintf("Send(%d, %d bytes) to a port that comes and goes", receiver, len(b)),
				func() error { return port.Send(ctx, receiver, b) })
			cancel()
			closedThere(a, "Send", err)
		}
		if a.rng.IntN(2) == 0 { // else Close waits for a second at most
			err := a.do("Flush to a port that comes and goes", func() error { return port.Flush(a.ctx) })
			closedThere(a, "Flush", err)
		}
		err := a.do("Port.Close", port.Close)
		closedThere(a, "Port.Close", err)
	}
	a.meet(s, "all is sent")
}

// closedThere judges the error of a call that a closed port at the other end may end, or
// time.
func closedThere(a *actor, what string, err error) {
	if errors.Is(err, weft.ErrClosed) && !a.leaving.Load() {
		return
	}
	a.judge(what, err, true)
}

// reopen receives with one port after another. While others send there is always one
// sooner or later; the last one receives until all have sent everything.
func reopen(a *actor, s *scene, count int) {
	last := map[int]int{}
	sent := &flag{r: s.rank}
	vain := 0 // ports in a row to which nothing has come
	group := crew{p: a.p}
	s.act2(&group, "meeting", func(b *actor) {
		b.meet(s, "all is sent")
		sent.raise()
	})
	for !a.quit {
		port, ok := open(a, s.channel)
		if !ok {
			break
		}
		ended := false
		for range 1 + a.rng.IntN(count) {
			ctx, cancel := a.brief(a.ctx)
			if vain > 50 { // a long message over a slow path takes longer
				cancel()
				ctx, cancel = a.within(a.ctx, time.Duration(vain)*time.Millisecond)
			}
			var m weft.Message
			err := a.do("Recv on a port that comes and goes", func() (err error) { m, err = port.Recv(ctx); return err })
			cancel()
			switch a.judge("Recv", err, true) {
			case fine:
				vain = -1
				a.inOrder(m, s, last)
				m.Release()
			case over, failed:
				ended = true
			}
			if a.quit {
				break
			}
		}
		vain++
		ended = ended || sent.raised()
		if ended || a.quit {
			// What has been accepted is here.
			for {
				m, err := port.TryRecv()
				if err != nil {
					break
				}
				a.inOrder(m, s, last)
				m.Release()
			}
			a.call("Port.Close", port.Close)
			break
		}
		a.call("Port.Close", port.Close)
		a.pause()
	}
	a.do("wait for the senders", func() error { group.Wait(); return nil })
}

// inOrder checks a message of which some before it may be missing.
func (a *actor) inOrder(m weft.Message, s *scene, last map[int]int) {
	l, err := unpack(m.Data)
	if err != nil {
		a.found("%s: from rank %d: %v", a.name, m.From, err)
		return
	}
	if l.scene != s.number || l.from != m.From {
		a.found("%s: from rank %d: message %d of rank %d of scene %d", a.name, m.From, l.seq, l.from, l.scene)
		return
	}
	if before, ok := last[l.from]; ok && int(l.seq) <= before {
		a.found("%s: message %d of rank %d came after its message %d", a.name, l.seq, l.from, before)
	}
	last[l.from] = int(l.seq)
}
