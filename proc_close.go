package weft

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"weft/internal/engine/msg"
	"weft/internal/join"
)

// Close leaves the job. First it waits until the receivers of all messages that were sent have
// accepted them. If for a second none of them accepts any, the remaining messages are lost,
// and Close returns an [UndeliveredError]. Operations that other goroutines begin after
// Close, or that have not ended when it returns, return ErrClosed. Memory of regions and
// from Alloc can still be read and written, but other ranks do not see it.
func (p *Proc) Close() error { return p.close(context.Background(), join.ClosePatience) }

// fail is Close for a rank whose program has returned an error: the launcher and the other ranks are told.
func (p *Proc) fail(ctx context.Context, err error) {
	p.member.Fail("it failed: "+firstLine(err), becauseOf(err))
	_ = p.close(ctx, join.FailPatience) // err is what counts
}

// becauseOf returns the rank whose end, or whose failure, an error reports, or -1.
func becauseOf(err error) int {
	var gone *PeerError
	var revoked *RevokedError
	switch {
	case errors.As(err, &gone):
		return gone.Rank
	case errors.As(err, &revoked):
		return revoked.By
	}
	return -1
}

// firstLine returns the first line of an error's text, at most 200 bytes, for the other ranks.
func firstLine(err error) string {
	line, _, _ := strings.Cut(strings.TrimPrefix(err.Error(), "weft: "), "\n")
	const most = 200
	return line[:min(len(line), most)]
}

// close is Close with a time for which it waits for receivers that accept nothing. It waits for no longer than that
// after ctx has ended.
func (p *Proc) close(ctx context.Context, patience time.Duration) error {
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
	lost := undelivered(p.node.Drain(ctx, patience))
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

// undelivered returns an UndeliveredError about the messages that have not been accepted, or nil if there are none.
func undelivered(left []msg.Backlog) error {
	var lost []Undelivered
	for _, b := range left {
		lost = append(lost, Undelivered{Rank: b.Rank, Channel: int(b.Channel), Messages: b.Messages, Left: b.Left})
	}
	if lost == nil {
		return nil
	}
	return &UndeliveredError{Messages: lost}
}
