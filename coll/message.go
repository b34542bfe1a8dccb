package coll

import (
	"context"
	"fmt"

	"weft/internal/mem"
)

// message builds the header of some elements in the group's i-th buffer, followed by the elements
// if they are few, and reports whether the elements are to follow in a message of their own.
func message[T Element](g *Group, i int, s []T) (b []byte, follows bool) {
	c := g.now
	if c.op == OpPointToPoint || c.op == OpAllToAllV {
		c.length = uint64(len(s)) // only the two members must have the same length
	}
	payload := mem.Bytes(s)
	if follows = len(payload) > inline; follows {
		payload = nil
	}
	for len(g.out) <= i {
		g.out = append(g.out, make([]byte, headSize+inline))
	}
	b = g.out[i][:headSize+len(payload)]
	form := byte(0)
	if follows {
		form = apart
	}
	c.put(b, form)
	copy(b[headSize:], payload)
	return b, follows
}

// send sends elements to a member.
func send[T Element](ctx context.Context, g *Group, to int, s []T) error {
	b, follows := message(g, 0, s)
	if err := g.sender.Send(ctx, g.members[to], b); err != nil || !follows {
		return err
	}
	return g.sender.Send(ctx, g.members[to], mem.Bytes(s))
}

// start begins to send elements to a member. It uses the group's i-th buffer until wait has
// returned.
func start[T Element](g *Group, i, to int, s []T) error {
	b, follows := message(g, i, s)
	sent, err := g.sender.StartSend(g.members[to], b)
	if err != nil {
		return err
	}
	g.sent = append(g.sent, sent)
	if !follows {
		return nil
	}
	sent, err = g.sender.StartSend(g.members[to], mem.Bytes(s))
	if err == nil {
		g.sent = append(g.sent, sent)
	}
	return err
}

// wait waits until what start has begun is sent, and returns the first error. If something has
// failed already, it first revokes the channel: no member will receive what is on its way.
func (g *Group) wait(ctx context.Context, failed error) error {
	if failed != nil {
		g.port.Revoke(g.members, failed)
	}
	for _, sent := range g.sent {
		if err := sent.Wait(ctx); failed == nil {
			failed = err
		}
		sent.Free()
	}
	g.sent = g.sent[:0]
	return failed
}

// receive receives as many elements as dst has from a member, if that has called what this one has.
func receive[T Element](ctx context.Context, g *Group, from int, dst []T) error {
	b := mem.Bytes(dst)
	rank := g.members[from]
	n, err := g.port.RecvIntoFrom(ctx, rank, g.in)
	if err != nil {
		return err
	}
	theirs, form, ok := parseCall(g.in[:n])
	if !ok {
		return fmt.Errorf(
			"coll: rank %d has sent %d bytes that are not of a group: its channel is used for something else", rank, n)
	}
	mine := g.now
	if mine.op == OpPointToPoint || mine.op == OpAllToAllV {
		mine.length = uint64(len(dst))
	}
	if err := mine.compare(rank, theirs); err != nil {
		return err
	}
	n -= headSize
	if form == apart {
		n, err = g.port.RecvIntoFrom(ctx, rank, b)
	} else {
		copy(b, g.in[headSize:headSize+n])
	}
	if long, ok := tooLong(err); ok {
		n = long
		err = nil
	}
	if err == nil && n != len(b) {
		err = &LengthError{mine.op, rank, n / mem.Size[T](), len(dst)}
	}
	return err
}

// exchange sends to one member and receives from one, at the same time.
func exchange[T Element](ctx context.Context, g *Group, to int, s []T, from int, dst []T) error {
	err := start(g, 0, to, s)
	if err == nil {
		err = receive(ctx, g, from, dst)
	}
	return g.wait(ctx, err)
}

// exchanges sends to all other members and receives from all of them, at the same time. part
// returns what is sent to a member, and dest where to put what a member sends.
func exchanges[T Element](ctx context.Context, g *Group, part, dest func(i int) []T) (err error) {
	n := g.Size()
	for step := 1; step < n && err == nil; step++ {
		to := (g.me + step) % n
		err = start(g, step, to, part(to))
	}
	for step := 1; step < n && err == nil; step++ {
		from := (g.me - step + n) % n
		err = receive(ctx, g, from, dest(from))
	}
	return g.wait(ctx, err)
}
