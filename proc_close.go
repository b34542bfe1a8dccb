package weft

import (
	"cmp"
	"errors"
	"maps"
	"slices"

	"weft/internal/join"
)

// Close leaves the job. First it waits until the receivers of all messages that were sent have
// accepted them. If for a second none of them accepts any, the remaining messages are lost,
// and Close returns an [UndeliveredError]. Operations that other goroutines begin after
// Close, or that have not ended when it returns, return ErrClosed. Memory of regions and
// from Alloc can still be read and written, but other ranks do not see it.
func (p *Proc) Close() error {
	p.open.Lock()
	if p.open.closed {
		p.open.Unlock()
		return nil
	}
	p.open.closed = true
	// The order is fixed, so that a simulation can be repeated.
	ports := slices.SortedFunc(maps.Values(p.open.ports), func(a, b *Port) int {
		return cmp.Compare(a.channel, b.channel)
	})
	mailboxes := slices.SortedFunc(maps.Keys(p.open.mailboxes), func(a, b *Mailbox) int {
		return cmp.Compare(a.name, b.name)
	})
	barriers := maps.Clone(p.open.barriers)
	p.open.Unlock()
	p.node.Quit()
	lost := p.drain()
	for _, m := range mailboxes {
		m.Close()
	}
	p.ways.Close()
	for _, q := range ports {
		q.Close()
	}
	for _, b := range barriers {
		b.close()
	}
	return errors.Join(lost, p.member.Close())
}

// drain waits until the messages that were sent have been accepted, and returns an UndeliveredError if some are left.
func (p *Proc) drain() error {
	var lost []Undelivered
	for _, b := range p.node.Drain(join.ClosePatience) {
		lost = append(lost, Undelivered{Rank: b.Rank, Channel: int(b.Channel), Messages: b.Messages, Left: b.Left})
	}
	if lost == nil {
		return nil
	}
	return &UndeliveredError{Messages: lost}
}
