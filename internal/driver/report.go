package driver

import (
	"fmt"

	"weft/internal/engine/coord"
	"weft/internal/engine/msg"
	"weft/internal/engine/rma"
	"weft/internal/waitgraph"
)

// mostListed bounds what a report lists of each kind: it must stay short.
const mostListed = 100

// Report says what this process waits for, and what it holds or waits for of locks, semaphores,
// conditions and barriers. Waits that have just begun, and are still polled for, are left out.
func (n *Node) Report() waitgraph.Report {
	n.mu.Lock()
	defer n.mu.Unlock()
	r := waitgraph.Report{Rank: n.cfg.Engine.Rank, Gone: n.eng.Departed(), Done: n.life.closing.Load()}
	if n.life.closed {
		return r
	}
	now := n.now()
	for _, c := range n.waiting.calls {
		if c.is == message && c.Msg.Kind == msg.Recv && c.port.Service() {
			continue
		}
		if len(r.Waits) == mostListed {
			r.More++
			continue
		}
		w := c.describe()
		w.Seconds = now.Sub(c.since).Seconds()
		r.Waits = append(r.Waits, w)
	}
	for _, s := range n.eng.Coord.States() {
		if len(r.Objects) == mostListed {
			break
		}
		if s.Home && len(s.Queue)+len(s.Holders)+len(s.Members) == 0 {
			continue
		}
		r.Objects = append(r.Objects, waitgraph.Object{
			What: s.What, Name: s.Name, ID: s.ID, Holds: s.Holds, Owns: s.Owns, Arrived: s.Arrived, Done: s.Done,
			Members: s.Members, Home: s.Home, Holders: s.Holders, Queue: s.Queue,
		})
	}
	return r
}

// messageWaits says what a message operation waits for.
var messageWaits = [...]string{
	msg.Send: "send", msg.Recv: "receive", msg.Flush: "flush",
	msg.Room: "send", msg.Await: "receive", msg.Freeze: "freeze",
}

// describe says what a call waits for. The lock is held.
func (c *Call) describe() waitgraph.Wait {
	w := waitgraph.Wait{Rank: waitgraph.AnyRank}
	switch c.is {
	case message:
		w.For = messageWaits[c.Msg.Kind]
		if c.Msg.Peer >= 0 {
			w.Rank = c.Msg.Peer
		}
		w.Call = waitgraph.Receives(int(c.port.Channel()))
		if c.Msg.Kind == msg.Send {
			w.Call = fmt.Sprintf("%d bytes, channel %d", len(c.Msg.Buf), c.port.Channel())
		}
	case memory:
		w.For = "region"
		w.Name = c.RMA.Name
		w.Rank = c.RMA.Peer
		w.Call = c.RMA.String()
		switch c.RMA.Kind {
		case rma.Attach:
			w.Call = "to be exposed"
		case rma.IPush:
			w.For = "mailbox"
		case rma.Await: // of our own, for what anyone may send
			w.For = "receive"
			w.Name = ""
			w.Rank = waitgraph.AnyRank
		}
	case coordination:
		w.For = "lock"
		if o := c.Sync.Object; o != nil {
			w.For = o.What()
			w.Name = o.Name
			w.ID = o.ID
		}
		if c.Sync.Kind == coord.Await || c.Sync.Kind == coord.Pass {
			w.Phase = c.Sync.N
		}
	}
	return w
}
