package driver

import (
	"fmt"
	"strings"

	"weft/failure"
	"weft/internal/engine/coord"
	"weft/internal/engine/msg"
	"weft/internal/engine/rma"
)

// explain wraps the error of a failed wait in a WaitError, which says what was waited for. Other
// errors stay as they are. The lock is held.
func (n *Node) explain(c *Call, err error) error {
	if err == nil {
		return nil
	}
	if _, gone := err.(*failure.PeerError); gone {
		return &failure.WaitError{Doing: c.doing(), Err: err}
	}
	if !failure.GivenUp(err) {
		return err
	}
	n.fail(c.peer(), c.operation().String()+": "+err.Error())
	return &failure.WaitError{Doing: c.doing(), Knows: n.knows(c), Err: err}
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
