package weft

import (
	"context"

	"weft/internal/driver"
	"weft/internal/engine/msg"
)

// A Draft is a message that the program writes in place: it fills Data, and calls Commit. A
// Draft is for one goroutine at a time.
type Draft struct {
	Data []byte

	port  *Port
	to    int
	block *msg.Block // nil for a long message
	use   uint32     // of the block
	big   *big       // of a long message
}

// Reserve returns a draft of a message of n bytes to a rank. It waits while the port's send
// buffer has no room for it. The content of Data is undefined.
func (q *Port) Reserve(ctx context.Context, to, n int) (Draft, error) {
	if err := q.p.check(to); err != nil {
		return Draft{}, err
	}
	if n < 0 {
		return Draft{}, &ConfigError{Field: "size of the draft", Value: n, Min: 0, Max: q.port.MaxMessage()}
	}
	if limit := q.port.MaxMessage(); n > limit {
		return Draft{}, &TooLongError{Size: n, Limit: limit, What: "PortConfig.MaxMessage"}
	}
	if n > msg.MaxEager {
		b := q.long.get(n)
		return Draft{Data: b.mem[:n], port: q, to: to, big: b, use: b.use}, nil
	}
	for {
		if b := q.p.node.Reserve(q.port, to, n); b != nil {
			return Draft{Data: b.Data(), port: q, to: to, block: b, use: b.Use()}, nil
		}
		if err := q.state(to); err != nil {
			return Draft{}, err
		}
		c := driver.NewCall()
		c.Msg.Kind = msg.Room
		c.Msg.Peer = to
		err := q.p.node.Message(ctx, q.port, c)
		c.Free()
		if err != nil {
			return Draft{}, err
		}
	}
}

// TryReserve is Reserve for up to 32 KiB if that is possible without waiting, else it returns
// ErrWouldBlock.
func (q *Port) TryReserve(to, n int) (Draft, error) {
	if uint(to) >= uint(q.p.job.Size) {
		return Draft{}, q.p.check(to)
	}
	if limit := min(q.port.MaxMessage(), msg.MaxEager); uint(n) > uint(limit) {
		return Draft{}, &TooLongError{Size: n, Limit: limit, What: "what TryReserve takes"}
	}
	if b := q.p.node.TryReserve(q.port, to, n); b != nil {
		return Draft{Data: b.Data(), port: q, to: to, block: b, use: b.Use()}, nil
	}
	if err := q.state(to); err != nil {
		return Draft{}, err
	}
	return Draft{}, ErrWouldBlock
}

// Commit sends the draft. Before that the program may have shortened Data at its end; afterwards
// Data must not be used any more. A draft of more than 32 KiB is sent as by Send, and waits
// until it has been received; shorter drafts never wait. Commit of a draft that has been
// committed or discarded does nothing.
func (d *Draft) Commit(ctx context.Context) error {
	data := d.Data
	d.Data = nil
	if d.block != nil {
		err := d.port.p.node.Commit(d.port.port, d.to, d.block, d.use, len(data))
		if d.block = nil; err == nil {
			d.port.p.count(d.to, d.port.kind, len(data))
		}
		return err
	}
	b := d.big
	if d.big = nil; b == nil || !d.port.long.lent(b, d.use) {
		return nil
	}
	err := d.port.Send(ctx, d.to, data)
	d.port.long.put(b, d.use)
	return err
}

// Discard gives the draft up. Discard of a draft that has been committed or discarded does
// nothing.
func (d *Draft) Discard() {
	switch {
	case d.big != nil:
		d.port.long.put(d.big, d.use)
	case d.block != nil:
		d.port.p.node.Discard(d.port.port, d.to, d.block, d.use)
	}
	d.block = nil
	d.big = nil
	d.Data = nil
}
