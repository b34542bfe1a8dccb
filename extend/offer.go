package extend

import (
	"context"

	"weft"
	"weft/internal/driver"
	"weft/internal/engine/msg"
	"weft/internal/inside"
)

// Open opens a port on one of the channels 65532 to 65535, which belong to libraries: package mpi has the first three.
func Open(p *weft.Proc, channel int, cfg *weft.PortConfig) (*weft.Port, error) {
	q, err := inside.Open(p, channel, cfg)
	if err != nil {
		return nil, err
	}
	return q.(*weft.Port), nil
}

// OneHost reports whether all ranks of the job are on this host. All ranks get the same answer.
func OneHost(p *weft.Proc) bool {
	j := inside.OfProc(p).Job
	return j.Local == j.Size
}

// Gone reports whether a rank is gone, as far as this one knows.
func Gone(p *weft.Proc, rank int) bool { return inside.OfProc(p).Node.Gone(rank) != nil }

// LatchRegion makes updates of words that this rank carries out for others, which reach the region by packets, take the
// latch at off, as mem.LockWord does, by the number of the rank plus 1. No rank has been told of the region yet.
func LatchRegion(p *weft.Proc, r *weft.Region, off int) {
	inside.OfProc(p).Node.Latch(inside.OfRegion(r), off)
}

// Library returns what a library keeps for a Proc under a key, which make makes at the first call. Make must not call
// Library.
func Library(p *weft.Proc, key any, make func() any) any { return inside.Library(p, key, make) }

// An Offer is a message that a rank has sent and that has not been copied so far. A long one waits at its sender,
// while others are received, until Take has fetched it or Refuse has turned its sender away. An Offer is for one
// goroutine at a time.
type Offer struct {
	From, Size int // the sender, and the length in bytes

	port *Port
	c    *driver.Call
	use  uint32 // of the block, if the message is short
}

// Accept takes the next message of a rank, of any length, without copying it.
func (x *Port) Accept(ctx context.Context, from int) (Offer, error) {
	c, err := x.in.Node.Accept(ctx, x.in.Port, from)
	if err != nil {
		return Offer{}, err
	}
	o := Offer{From: from, Size: c.Msg.N, port: x, c: c}
	if b := c.Msg.Block; b != nil {
		o.use = b.Use()
	}
	return o, nil
}

// Take copies the message into buf, of at least Size bytes: straight from the sender's memory, or in packets. If ctx
// ends first the message stays what it was, and can be taken later. If the sender has given it up the error matches
// failure.ErrWithdrawn. After any other error, and after success, the Offer is over.
func (o *Offer) Take(ctx context.Context, buf []byte) error {
	node := o.port.in.Node
	m := &o.c.Msg
	if m.State != msg.Offered {
		if m.Block != nil {
			copy(buf, m.Block.Data())
		}
		o.Refuse()
		return nil
	}
	m.Buf = buf[:o.Size]
	err := node.Fetch(ctx, o.c)
	if m.Buf = nil; m.State != msg.Offered {
		o.free()
	}
	return err
}

// Open reports whether the message can be taken. That of the zero Offer cannot.
func (o *Offer) Open() bool { return o.c != nil }

// Near reports whether the message lies in the memory of a process of this host.
func (o *Offer) Near() bool {
	m := &o.c.Msg
	return m.State != msg.Offered || m.Offer.Mem != 0 || m.Offer.Addr != 0
}

// Refuse gives the message up. Its sender gets an error that matches weft.ErrClosed, if it was a long message.
func (o *Offer) Refuse() { o.giveUp(false) }

// Drop is Refuse without a word to the sender, whose send goes on until it hears in another way that it is in vain.
func (o *Offer) Drop() { o.giveUp(true) }

func (o *Offer) giveUp(quietly bool) {
	switch m := &o.c.Msg; {
	case m.State == msg.Offered:
		m.Quiet = quietly
		o.port.in.Node.Decline(o.c)
	case m.Block != nil:
		o.port.in.Node.Release(o.port.in.Port, m.Block, o.use)
	}
	o.free()
}

func (o *Offer) free() {
	o.c.Free()
	o.c = nil
}
