package driver

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"weft/internal/engine/coord"
	"weft/internal/engine/link"
	"weft/internal/engine/msg"
	"weft/internal/engine/rma"
)

// A WaitError reports what a call waited for when its wait failed, because its context ended
// or because a rank is gone.
type WaitError struct {
	Doing string // which operation, on what: it names the channel, region, mailbox, lock or barrier, and the rank
	Knows string // what this rank knows of why it had to wait; may be empty
	Err   error  // the context's error, a PeerError, or an UnknownOutcome
}

// Error names the call, the reason why it ended, and what the engine knows of the ranks that it waited for.
func (e *WaitError) Error() string {
	s := "weft: " + e.Doing + ": " + strings.TrimPrefix(e.Err.Error(), "weft: ")
	if e.Knows != "" {
		s += ": " + e.Knows
	}
	return s
}

// Unwrap returns why.
func (e *WaitError) Unwrap() error { return e.Err }

// GivenUp reports whether an error is that of a context that has ended.
func GivenUp(err error) bool {
	return errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled)
}

// explain wraps the error of a failed wait in a WaitError, which says what was waited for. Other
// errors stay as they are. The lock is held.
func (n *Node) explain(c *Call, err error) error {
	if err == nil {
		return nil
	}
	if GivenUp(err) {
		n.fail(c.peer(), c.operation().String()+": "+err.Error())
	}
	if _, gone := err.(*link.PeerError); gone {
		return &WaitError{Doing: c.doing(), Err: err}
	}
	if !GivenUp(err) {
		return err
	}
	return &WaitError{Doing: c.doing(), Knows: n.knows(c), Err: err}
}

// doing says which operation a call is.
func (c *Call) doing() string {
	w := c.describe()
	switch c.is {
	case message:
		from := ""
		to := ""
		if c.Msg.Peer >= 0 {
			from = fmt.Sprintf(" from rank %d", c.Msg.Peer)
			to = fmt.Sprintf(" to rank %d", c.Msg.Peer)
		}
		switch c.Msg.Kind {
		case msg.Recv:
			return fmt.Sprintf("receive%s on channel %d", from, c.port.Channel())
		case msg.Send:
			return fmt.Sprintf("send of %d bytes%s on channel %d", len(c.Msg.Buf), to, c.port.Channel())
		case msg.Freeze:
			return fmt.Sprintf("freeze of channel %d", c.port.Channel())
		case msg.Await:
			return fmt.Sprintf("wait for a message on channel %d", c.port.Channel())
		case msg.Flush:
			return fmt.Sprintf("flush of channel %d", c.port.Channel())
		default:
			return fmt.Sprintf("draft of a message%s on channel %d", to, c.port.Channel())
		}
	case memory:
		switch c.RMA.Kind {
		case rma.Attach:
			return fmt.Sprintf("region %q of rank %d", w.Name, w.Rank)
		case rma.Flush:
			return fmt.Sprintf("flush of regions of rank %d", w.Rank)
		case rma.Await:
			return w.Call
		}
		return fmt.Sprintf("%s %q of rank %d: %s", w.For, w.Name, w.Rank, w.Call)
	default:
		switch {
		case c.Sync.Kind == coord.Bind:
			return "lock that guards a region"
		case w.Phase != 0:
			return fmt.Sprintf("%s %q, phase %d", w.For, w.Name, w.Phase)
		}
		return fmt.Sprintf("%s %q", w.For, w.Name)
	}
}

// knows says what this rank knows, without asking others, of why a call had to wait. The
// lock is held.
func (n *Node) knows(c *Call) string {
	rank := -1
	switch c.is {
	case message:
		rank = c.Msg.Peer
	case memory:
		rank = c.RMA.Peer
	}
	if rank >= 0 && rank != n.cfg.Engine.Rank {
		if p := n.peers.byRank[rank]; p == nil || p.open {
			return fmt.Sprintf("rank %d has not been reached yet", rank)
		}
	}
	switch {
	case c.is == message && c.Msg.Kind != msg.Recv && c.Msg.Kind != msg.Await:
		return n.backlog(c)
	case c.is == memory && c.RMA.Kind == rma.Attach:
		return "the rank has not said that it exposes it"
	}
	return ""
}

// backlog says which messages of a call's channel have not been accepted. The lock is held.
func (n *Node) backlog(c *Call) string {
	const most = 4
	var s []string
	for _, b := range n.eng.Msg.Backlog() {
		if b.Channel != c.port.Channel() || b.Left || c.Msg.Peer >= 0 && b.Rank != c.Msg.Peer {
			continue
		}
		if len(s) == most {
			s = append(s, "…")
			break
		}
		s = append(s, fmt.Sprintf("rank %d has not accepted %d messages", b.Rank, b.Messages))
	}
	return strings.Join(s, ", ")
}
