package stress

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"

	"weft"
)

// mailbox: members have mailboxes of any shape, whose rings change meanwhile, and put
// messages into those of all, in all ways.
func mailbox(s *scene) {
	a := s.actor(s.name + " main")
	defer a.end()
	ring := []int{4 << 10, 16 << 10, 64 << 10, 256 << 10}[s.shared.IntN(4)] // the longest message
	senders := 1 + s.shared.IntN(2)
	count := 5 + s.shared.IntN(80)
	packets := s.shared.IntN(4) == 0 // are received, not messages
	if packets {
		senders = 1
	}
	rings := 1 + s.shared.IntN(3) // the same everywhere: senders name them
	cfg := &weft.MailboxConfig{Records: []int{0, 16, 64}[a.rng.IntN(3)], Spare: ring * a.rng.IntN(3), Table: map[int]int{}}
	for range rings {
		cfg.Rings = append(cfg.Rings, ring*(1+a.rng.IntN(2)))
	}
	for _, m := range s.members {
		cfg.Table[m] = a.rng.IntN(rings)
	}
	if a.rng.IntN(4) == 0 {
		cfg.Full = weft.StallWhenFull
	}
	var box *weft.Mailbox
	name := "mailbox " + s.name
	if a.call("Mailbox", func() (err error) { box, err = a.p.OpenMailbox(name, cfg); return err }) != fine {
		return
	}
	l := newLedger(a, s.number, s.members, senders)
	s.note(l)
	ctx, cancel := context.WithCancel(a.ctx)
	var receivers, sending sync.WaitGroup
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
		s.act2(&receivers, "changer", func(a *actor) { change(a, ctx, box, ring, rings) })
	}
	for i := range senders {
		s.act2(&sending, fmt.Sprintf("sender %d", i), func(a *actor) {
			d := newDiary(a.name)
			s.note(d)
			for _, to := range s.members {
				put(a, s, d, to, name, i, count, ring, rings)
			}
		})
	}
	done := make(chan struct{})
	go s.goodbyes(done, l.gone)
	a.do("wait for the ends of all senders", func() error {
		select {
		case <-l.done:
		case <-a.ctx.Done():
			a.quit = true
		}
		return nil
	})
	close(done)
	a.do("wait for the own senders", func() error { sending.Wait(); return nil })
	cancel()
	a.do("wait for the own takers", func() error { receivers.Wait(); return nil })
	a.call("Mailbox.Close", box.Close)
}

// put puts count messages into a mailbox, and the end.
func put(a *actor, s *scene, d *diary, to int, name string, number, count, ring, rings int) {
	var out *weft.Sender
	if a.call(fmt.Sprintf("Sender(%d)", to),
		func() (err error) { out, err = a.p.AttachMailbox(a.ctx, to, name); return err }) != fine {
		return
	}
	seq := uint32(0)
	maybe := []uint32(nil)
	type started struct {
		op  *weft.Op
		seq uint32
	}
	var begun []started
	settle := func() verdict {
		worst := fine
		for _, b := range begun {
			v := a.call(fmt.Sprintf("Wait for the StartPush of message %d to %d", b.seq, to),
				func() error { return b.op.Wait(a.ctx) })
			worst = max(worst, v)
		}
		begun = nil
		return worst
	}
	for seq < uint32(count) {
		b := make([]byte, min(length(a.rng), ring))
		label{scene: s.number, from: a.p.Rank(), actor: number, seq: seq, kind: data}.pack(b)
		tag := uint64(seq)
		var v verdict
		way := a.rng.IntN(8)
		d.wrote(to, seq, len(b), []string{"push", "PerPacket", "To", "push", "PerMessage", "ends", "start", "start"}[way])
		switch way {
		case 0, 1, 2, 3:
			from := out
			switch way {
			case 1:
				from = out.WithStatus(weft.StatusPerPacket)
			case 2:
				from = out.WithRing(a.rng.IntN(rings))
			}
			v = a.call(fmt.Sprintf("PushTagged(%d, %d bytes)", to, len(b)),
				func() error { return from.PushTagged(a.ctx, tag, b) })
		case 4:
			err := a.do(fmt.Sprintf("PushTagged(%d, %d bytes) per message", to, len(b)),
				func() error { return out.WithStatus(weft.StatusPerMessage).PushTagged(a.ctx, tag, b) })
			if errors.Is(err, weft.ErrShared) {
				continue
			}
			v = a.judge("Push", err, false)
		case 5:
			ctx, cancel := a.brief(a.ctx)
			err := a.do(fmt.Sprintf("PushTagged(%d, %d bytes) with a context that ends", to, len(b)),
				func() error { return out.PushTagged(ctx, tag, b) })
			cancel()
			if v = a.judge("Push", err, true); v == later && outcome(err) == "unknown" {
				maybe = append(maybe, seq)
				seq++
			}
		default:
			var op *weft.Op
			v = a.call(fmt.Sprintf("StartPush(%d, %d bytes)", to, len(b)),
				func() (err error) { op, err = out.StartPushTagged(tag, b); return err })
			if v == fine {
				if begun = append(begun, started{op, seq}); len(begun) > a.rng.IntN(4) {
					v = settle()
				}
			}
		}
		if v != fine {
			d.wrote(to, seq, len(b), "failed")
		}
		switch v {
		case fine:
			seq++
		case gone, over, failed:
			settle()
			return
		}
	}
	if settle() != fine {
		return
	}
	b := make([]byte, min(least+4*len(maybe), ring))
	label{scene: s.number, from: a.p.Rank(), actor: number, seq: seq, kind: fin}.head(b)
	for i, m := range maybe {
		if least+4*i < len(b) {
			binary.LittleEndian.PutUint32(b[least+4*i:], m)
		}
	}
	seal(b)
	a.call(fmt.Sprintf("PushTagged(%d) of the end", to), func() error { return out.PushTagged(a.ctx, uint64(seq), b) })
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
func change(a *actor, ctx context.Context, box *weft.Mailbox, ring, rings int) {
	for range 20 {
		if ctx.Err() != nil || a.quit {
			return
		}
		a.pause()
		var err error
		what := "ResizeRing"
		switch a.rng.IntN(4) {
		case 0, 1:
			err = a.do(what, func() error { return box.ResizeRing(ctx, a.rng.IntN(rings), ring+64*a.rng.IntN(16)) })
		case 2:
			what = "SetRing"
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
