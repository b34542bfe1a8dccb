package stress

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"

	"weft"
	"weft/mpi"
)

// matching: members receive by source and tag. For each tag there is a goroutine that
// receives the messages with it, in all ways; those of a sender come in order.
func matching(s *scene) {
	const tags = 3
	a := s.actor(s.name + " main")
	defer a.end()
	count := s.scaled(5 + s.shared.IntN(60))
	var c *mpi.Comm
	if a.call("CreateGroup", func() (err error) { c, err = comm(a, s, 0); return err }) != fine {
		a.meet(s, "all is received") // others may have the communicator, and come there
		return
	}
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
			sendTagged(a, s, c, to, count, tags, plan(a.p.Rank(), to))
		}
	})
	for tag := range tags {
		s.act2(&group, fmt.Sprintf("receiver of tag %d", tag), func(a *actor) { receiveTag(a, s, c, e, tag) })
	}
	a.do("wait for the own goroutines", func() error { group.Wait(); return nil })
	done.raise()
	a.do("wait for the goodbyes", func() error { s.group.Wait(); return nil })
	a.meet(s, "all is received")
	a.call("Comm.Free", func() error { return c.Free(a.ctx) })
}

// sendTagged sends count messages with tags from the plan, which the receiver knows, too.
func sendTagged(a *actor, s *scene, c *mpi.Comm, to, count, tags int, plan *rand.Rand) {
	place := mpi.World(a.p).Group().Translate([]int{to}, c.Group())[0]
	seqs := make([]uint32, tags)
	var qs []*mpi.Request // the receivers of some tags may come only when those of others have all
	for range count {
		tag := plan.IntN(tags)
		b := make([]byte, min(length(a.rng), longest))
		label{scene: s.number, from: a.p.Rank(), actor: tag, seq: seqs[tag], kind: data}.pack(b)
		seqs[tag]++
		send := c.StartSend
		if a.rng.IntN(4) == 0 {
			send = c.StartSsend
		}
		var q *mpi.Request
		if a.call(fmt.Sprintf("Send(%d, %d bytes, tag %d)", to, len(b), tag),
			func() (err error) { q, err = send(mpi.Of(b), place, tag); return err }) != fine {
			break
		}
		qs = append(qs, q)
	}
	a.call(fmt.Sprintf("WaitAll of %d messages to %d", len(qs), to), func() error { return mpi.WaitAll(a.ctx, qs...) })
}

// longest is the length of the longest message.
const longest = 100_000

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
func (e *expected) came(a *actor, s *scene, tag int, d *matched) {
	l, err := unpack(d.Data)
	e.mu.Lock()
	defer e.mu.Unlock()
	key := [2]int{d.From, tag}
	switch {
	case err != nil:
		a.found("%s: from rank %d: %v", a.name, d.From, err)
	case l.scene != s.number || l.from != d.From || l.actor != tag || d.Tag != tag:
		a.found("%s: from rank %d with tag %d: message %d of rank %d with tag %d in scene %d", a.name, d.From, d.Tag, l.seq,
			l.from, l.actor, l.scene)
	case l.seq < e.next[key]: // a rank that leaves gives long messages up; for others that are lost the receiver waits
		a.found("%s: message %d of rank %d came where message %d should", a.name, l.seq, l.from, e.next[key])
	}
	e.next[key] = l.seq + 1
	e.want[key]--
}

// receiveTag receives all messages with a tag.
func receiveTag(a *actor, s *scene, c *mpi.Comm, e *expected, tag int) {
	buf := make([]byte, longest)
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
		source := mpi.World(a.p).Group().Translate([]int{from}, c.Group())[0]
		if a.rng.IntN(2) == 0 {
			source = mpi.AnySource
		}
		d, err := receiveMatch(a, ctx, c, source, tag, buf)
		end()
		var peer *weft.PeerError
		switch v := a.judge("Recv", err, true); {
		case v == fine && d.Data != nil:
			e.came(a, s, tag, &d)
		case errors.As(err, &peer):
			e.lose(peer.Rank)
		case v == failed, errors.Is(err, weft.ErrRevoked): // a member that leaves has given the communicator up
			return
		}
	}
}

// A matched is a message that has been received, with its sender's rank in the job.
type matched struct {
	From, Tag int
	Data      []byte
}

// receiveMatch receives in one of the ways that there are. It may return nothing.
func receiveMatch(a *actor, ctx context.Context, c *mpi.Comm, source, tag int, buf []byte) (d matched, err error) {
	at := fmt.Sprintf("(%d, tag %d)", source, tag)
	var st mpi.Status
	switch a.rng.IntN(5) {
	case 0:
		var m *mpi.Message
		err = a.do("TryMProbe"+at, func() error { m, st, err = c.TryMProbe(source, tag); return err })
		if err == nil && m == nil {
			a.pause()
			return d, weft.ErrWouldBlock
		}
		if err == nil {
			err = a.do("Message.Recv", func() error { st, err = m.Recv(a.ctx, mpi.Of(buf)); return err })
		}
	case 1:
		var r *mpi.Request
		if r, err = c.StartRecv(mpi.Of(buf), source, tag); err == nil {
			a.pause()
			_, _, _ = r.Test() // Wait says the same
			err = a.do("Request.Wait"+at, func() error { st, err = r.Wait(ctx); return err })
		}
	case 2:
		return d, a.do("Probe"+at, func() error { _, err := c.Probe(ctx, source, tag); return err })
	default:
		err = a.do("Recv"+at, func() error { st, err = c.Recv(ctx, mpi.Of(buf), source, tag); return err })
	}
	if err != nil {
		return d, err
	}
	return matched{c.Group().Ranks()[st.Source], st.Tag, buf[:st.Count]}, nil
}
