package stress

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"

	"weft"
	"weft/match"
)

// matching: members receive by source and tag. For each tag there is a goroutine that
// receives the messages with it, in all ways; those of a sender come in order.
func matching(s *scene) {
	const tags = 3
	a := s.actor(s.name + " main")
	defer a.end()
	count := s.scaled(5 + s.shared.IntN(60))
	name := "match " + s.name
	var box *weft.Mailbox
	if a.call("Mailbox", func() (err error) { box, err = a.p.OpenMailbox(name, nil); return err }) != fine {
		return
	}
	copies := a.rng.IntN(2) == 0 || a.p.Simulated()
	m := match.New(a.p, box, &match.Config{Copy: copies})
	// What each sender sends is known to its receiver.
	plan := func(from, to int) *rand.Rand { return chance(s.seed, s.name, from, to) }
	e := &expected{want: map[[2]int]int{}, next: map[[2]int]uint32{}, gone: map[int]bool{}, waits: make([]func(), tags)}
	for _, from := range s.members {
		rng := plan(from, a.p.Rank())
		for range count {
			e.want[[2]int{from, rng.IntN(tags)}]++
		}
	}
	done := &flag{r: s.rank}
	s.group.Go(func() { s.goodbyes(done, e.lose) })
	group := crew{p: a.p}
	s.act2(&group, "sender", func(a *actor) {
		for _, to := range s.members {
			sendTagged(a, s, to, name, count, tags, plan(a.p.Rank(), to))
		}
	})
	for tag := range tags {
		s.act2(&group, fmt.Sprintf("receiver of tag %d", tag), func(a *actor) { receiveTag(a, s, m, e, tag, copies) })
		if a.p.Simulated() {
			group.Wait() // receivers would wait for each other in Go, which costs time in the simulator
		}
	}
	a.do("wait for the own goroutines", func() error { group.Wait(); return nil })
	done.raise()
	a.do("wait for the goodbyes", func() error { s.group.Wait(); return nil })
	a.meet(s, "all is received")
	a.call("Mailbox.Close", box.Close)
}

// sendTagged sends count messages with tags from the plan, which the receiver knows, too. The upper bits of a tag
// are drawn at random, and must not matter.
func sendTagged(a *actor, s *scene, to int, name string, count, tags int, plan *rand.Rand) {
	var out *weft.Sender
	if a.call(fmt.Sprintf("Sender(%d)", to),
		func() (err error) { out, err = a.p.AttachMailbox(a.ctx, to, name); return err }) != fine {
		return
	}
	seqs := make([]uint32, tags)
	for range count {
		tag := plan.IntN(tags)
		b := make([]byte, min(length(a.rng), 4000))
		label{scene: s.number, from: a.p.Rank(), actor: tag, seq: seqs[tag], kind: data}.pack(b)
		seqs[tag]++
		high := a.rng.Uint64() << 8 // the receivers' mask leaves it out
		if a.call(fmt.Sprintf("PushTagged(%d, %d bytes)", to, len(b)),
			func() error { return out.PushTagged(a.ctx, high|uint64(tag), b) }) != fine {
			return
		}
	}
}

// expected is what is still to come, by sender and tag.
type expected struct {
	mu    sync.Mutex
	want  map[[2]int]int
	next  map[[2]int]uint32
	gone  map[int]bool
	waits []func() // by tag: ends the wait of its receiver
}

// lose notes that a rank is gone, and wakes the receivers that wait for its messages.
func (e *expected) lose(rank int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.gone[rank] = true
	for _, end := range e.waits {
		if end != nil {
			end() // perhaps nothing is to come any more
		}
	}
}

// from returns a rank from which messages with a tag are to come, or -1. A rank that is lost from now on calls end.
func (e *expected) from(tag int, end func()) (rank int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.waits[tag] = end
	rank = -1
	for key, n := range e.want {
		if key[1] == tag && n > 0 && !e.gone[key[0]] && (rank < 0 || key[0] < rank) {
			rank = key[0]
		}
	}
	return rank
}

// came checks a message.
func (e *expected) came(a *actor, s *scene, tag int, d *weft.Delivery) {
	l, err := unpack(d.Data)
	e.mu.Lock()
	defer e.mu.Unlock()
	key := [2]int{d.From, tag}
	switch {
	case err != nil:
		a.found("%s: from rank %d: %v", a.name, d.From, err)
	case l.scene != s.number || l.from != d.From || l.actor != tag || d.Tag&0xff != uint64(tag):
		a.found("%s: from rank %d with tag %x: message %d of rank %d with tag %d in scene %d", a.name, d.From, d.Tag, l.seq,
			l.from, l.actor, l.scene)
	case l.seq != e.next[key]:
		a.found("%s: message %d of rank %d came where message %d should", a.name, l.seq, l.from, e.next[key])
	}
	e.next[key]++
	e.want[key]--
}

// receiveTag receives all messages with a tag. Without copies it takes them from any
// sender: one that it does not ask for may have filled the ring.
func receiveTag(a *actor, s *scene, m *match.Matcher, e *expected, tag int, copies bool) {
	for !a.quit {
		ctx, end := context.WithCancel(a.ctx)
		if a.rng.IntN(4) == 0 {
			end()
			ctx, end = a.brief(a.ctx)
		}
		from := e.from(tag, end)
		if from < 0 {
			end()
			return
		}
		source := from
		if !copies || a.rng.IntN(2) == 0 {
			source = match.Any
		}
		d, err := receiveMatch(a, ctx, m, source, tag)
		end()
		var peer *weft.PeerError
		switch v := a.judge("Matcher.Recv", err, true); {
		case v == fine && d.Data != nil:
			e.came(a, s, tag, &d)
			d.Release()
		case errors.As(err, &peer):
			e.lose(peer.Rank)
		case v == failed:
			return
		}
	}
}

// receiveMatch receives in one of the ways that there are. It may return nothing.
func receiveMatch(a *actor, ctx context.Context, m *match.Matcher, source, tag int) (d weft.Delivery, err error) {
	const mask = 0xff
	at := fmt.Sprintf("(%d, tag %d)", source, tag)
	switch a.rng.IntN(5) {
	case 0:
		err = a.do("Matcher.TryRecv"+at, func() error { d, err = m.TryRecv(source, uint64(tag), mask); return err })
		if errors.Is(err, weft.ErrWouldBlock) {
			a.pause()
		}
	case 1:
		var r *match.Receive
		if r, err = m.Start(source, uint64(tag), mask); err == nil {
			a.pause()
			r.Done()
			err = a.do("Receive.Wait"+at, func() error { d, err = r.Wait(ctx); return err })
		}
	case 2:
		err = a.do("Matcher.Probe"+at, func() error { _, err := m.Probe(ctx, source, uint64(tag), mask); return err })
	default:
		err = a.do("Matcher.Recv"+at, func() error { d, err = m.Recv(ctx, source, uint64(tag), mask); return err })
	}
	return d, err
}
