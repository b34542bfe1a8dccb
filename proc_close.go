package weft

import (
	"cmp"
	"errors"
	"maps"
	"slices"
	"time"
)

// closePatience is how long Close waits for what is still on its way.
const closePatience = time.Second

// Close leaves the job. First it waits until the receivers of what was sent have
// accepted it, for as long as they go on doing so; if for a second none does, what is
// left is lost, and Close returns an [UndeliveredError]. Operations of other goroutines
// that are begun after it, or have not ended when it returns, return ErrClosed. Memory of
// regions and from Alloc can still be read and written without harm, but nobody sees it.
func (p *Proc) Close() error {
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return nil
	}
	p.closed = true
	// In an order that does not depend on chance, for the simulator's sake.
	ports := slices.SortedFunc(maps.Values(p.ports), func(a, b *Port) int { return cmp.Compare(a.channel, b.channel) })
	mailboxes := slices.SortedFunc(maps.Keys(p.mailboxes), func(a, b *Mailbox) int { return cmp.Compare(a.name, b.name) })
	barriers, ways := maps.Clone(p.barriers), maps.Clone(p.ways)
	p.mu.Unlock()
	p.node.Quit()
	lost := undelivered(p.node.Drain(closePatience))
	for _, m := range mailboxes {
		m.Close()
	}
	for _, w := range ways {
		w.leave()
	}
	for _, q := range ports {
		q.Close()
	}
	for _, b := range barriers {
		b.close()
	}
	p.node.Close(closePatience)
	p.cancel()
	var recorded error
	if p.record != nil {
		recorded = p.record.Close()
	}
	p.closeTransports()
	p.hideCounters()
	return errors.Join(lost, recorded, p.endTrace(), p.endTimeline(), p.src.Close())
}
