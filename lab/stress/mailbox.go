package stress

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"

	"weft"
)

// mailbox: members have mailboxes of any shape, whose rings change meanwhile, and put
// messages into those of all, in all ways.
func mailbox(s *scene) {
	a := s.actor(s.name + " main")
	defer a.end()
	longest := []int{4 << 10, 16 << 10, 64 << 10, 256 << 10}[s.shared.IntN(4)] // message
	senders := 1 + s.shared.IntN(2)
	if s.p.Simulated() {
		senders = 1 // several wait for each other in Go, which costs time in the simulator
	}
	count := s.scaled(5 + s.shared.IntN(80))
	packets := s.shared.IntN(4) == 0 // are received, not messages
	if packets {
		senders = 1
	}
	rings := 1 + s.shared.IntN(3) // the same everywhere: senders name them
	cfg := mailboxConfig(a.rng, s.members, longest, rings)
	var box *weft.Mailbox
	name := "mailbox " + s.name
	if a.call("Mailbox", func() (err error) { box, err = a.p.OpenMailbox(name, cfg); return err }) != fine {
		return
	}
	l := newLedger(a, s.number, s.members, senders)
	s.note(l)
	ctx, cancel := context.WithCancel(a.ctx)
	receivers := crew{p: a.p}
	sending := crew{p: a.p}
	receiving := 1
	if !packets {
		receiving += a.rng.IntN(3)
	}
	l.several = receiving > 1
	for i := range receiving {
		s.act2(&receivers, fmt.Sprintf("taker %d", i), func(a *actor) {
			if packets {
				takePackets(a, ctx, box, l)
			} else {
				take(a, ctx, box, l)
			}
		})
	}
	if a.rng.IntN(2) == 0 {
		s.act2(&receivers, "changer", func(a *actor) { change(a, ctx, box, longest, rings) })
	}
	for i := range senders {
		s.act2(&sending, fmt.Sprintf("sender %d", i), func(a *actor) {
			d := newDiary(a.name)
			s.note(d)
			for _, to := range s.members {
				p := pusher{a: a, s: s, d: d, to: to, number: i, longest: longest, rings: rings}
				p.put(name, count)
			}
		})
	}
	done := &flag{r: s.rank}
	receivers.Go(func() { s.goodbyes(done, l.gone) })
	a.all(l)
	done.raise()
	a.do("wait for the own senders", func() error { sending.Wait(); return nil })
	cancel()
	a.do("wait for the own takers", func() error { receivers.Wait(); return nil })
	a.call("Mailbox.Close", box.Close)
}

// mailboxConfig draws the shape of a mailbox with this number of rings, each of which takes the
// longest message.
func mailboxConfig(rng *rand.Rand, members []int, longest, rings int) *weft.MailboxConfig {
	cfg := &weft.MailboxConfig{Records: []int{0, 16, 64}[rng.IntN(3)], Spare: longest * rng.IntN(3), Table: map[int]int{}}
	for range rings {
		cfg.Rings = append(cfg.Rings, longest*(1+rng.IntN(2)))
	}
	for _, m := range members {
		cfg.Table[m] = rng.IntN(rings)
	}
	if rng.IntN(4) == 0 {
		cfg.Full = weft.StallWhenFull
	}
	return cfg
}

// take takes messages until the context ends.
func take(a *actor, ctx context.Context, box *weft.Mailbox, l *ledger) {
	r := l.reader()
	var held []weft.Delivery
	release := func() {
		a.rng.Shuffle(len(held), func(i, j int) { held[i], held[j] = held[j], held[i] })
		for i := range held {
			held[i].Release()
		}
		held = held[:0]
	}
	defer release()
	for ctx.Err() == nil && !a.quit {
		var d weft.Delivery
		var err error
		switch a.rng.IntN(4) {
		case 0, 1:
			release() // what is on loan takes up room, which others may wait for
			err = a.do("Next", func() error { d, err = box.Next(ctx); return err })
		case 2:
			brief, cancel := a.brief(ctx)
			err = a.do("Next with a context that ends", func() error { d, err = box.Next(brief); return err })
			cancel()
		default:
			if err = a.do("TryNext", func() error { d, err = box.TryNext(); return err }); errors.Is(err, weft.ErrWouldBlock) {
				a.pause()
			}
		}
		v := a.judge("Next", err, true)
		if v == fine {
			took(a, r, d)
			if held = append(held, d); len(held) > a.rng.IntN(4) {
				release()
			}
			continue
		}
		release()
		var peer *weft.PeerError
		if errors.As(err, &peer) {
			l.gone(peer.Rank)
		} else if v == failed {
			return
		}
	}
}

// took checks a delivery: its tag is the number of the message that the payload names.
func took(a *actor, r *reader, d weft.Delivery) {
	r.take(d.From, d.Data)
	if len(d.Data) >= least && d.Tag != uint64(binary.LittleEndian.Uint32(d.Data[4:])) {
		a.found("%s: a message of rank %d has tag %d, not %d", a.name, d.From, d.Tag, binary.LittleEndian.Uint32(d.Data[4:]))
	}
}

// takePackets takes packets, and joins them.
func takePackets(a *actor, ctx context.Context, box *weft.Mailbox, l *ledger) {
	r := l.reader()
	parts := map[int][]byte{}
	for ctx.Err() == nil && !a.quit {
		var d weft.Delivery
		err := a.do("NextPacket", func() (err error) { d, err = box.NextPacket(ctx); return err })
		var peer *weft.PeerError
		switch v := a.judge("NextPacket", err, true); {
		case v == fine:
			have := parts[d.From]
			if d.Off == 0 {
				have = nil // one that was given up, or its sender gone
			}
			if d.Off != len(have) {
				a.found("%s: a packet of rank %d at %d, where %d bytes have come of %d", a.name, d.From, d.Off, len(have), d.Total)
			}
			have = append(have, d.Data...)
			if parts[d.From] = have; len(have) == d.Total {
				took(a, r, weft.Delivery{From: d.From, Tag: d.Tag, Data: have})
				delete(parts, d.From)
			}
			d.Release()
		case errors.As(err, &peer):
			l.gone(peer.Rank)
		case v == failed:
			return
		}
	}
}

// change changes the rings while messages come.
func change(a *actor, ctx context.Context, box *weft.Mailbox, longest, rings int) {
	for range 20 {
		if ctx.Err() != nil || a.quit {
			return
		}
		a.pause()
		var err error
		what := "SetRing"
		switch a.rng.IntN(4) {
		case 0, 1:
			what = "NewRing"
			err = a.do(what, func() error { _, err := box.NewRing(longest + 64*a.rng.IntN(16)); return err })
		case 2:
			err = a.do(what, func() error { return box.SetRing(a.rng.IntN(a.p.Size()), a.rng.IntN(rings)) })
		default:
			what = "Rings"
			a.do(what, func() error { box.Rings(); box.MemoryBytes(); box.RingOf(0); return nil })
		}
		var config *weft.ConfigError
		if errors.Is(err, weft.ErrNoRoom) || errors.As(err, &config) {
			continue
		}
		a.judge(what, err, true)
	}
}
