package weft

import (
	"context"

	"weft/internal/driver"
	"weft/internal/engine/msg"
)

// The calls below save a port and put another state in its place: what PM's channel contexts have for gang scheduling,
// where two jobs take turns on the same nodes. All ranks that use the channel do the same, in this order:
//
//	q.Freeze(ctx)            // nothing of this rank is in the network
//	b.Wait(ctx)              // nor of any other
//	q.Save(&mine)
//	q.Restore(&other)        // or nil: as newly opened
//	b.Wait(ctx)              // all have the other state
//	q.Thaw()
//
// with a Barrier b, which does not use the channel. A state that only some ranks have saved, or that they have saved
// at different times, is worth nothing: its numbers do not fit those of the others.

// Freeze stops the port from sending anything of its own accord, and returns when nothing of it is in the network: a fence
// that follows all that was sent to a rank has been answered by it (PROTOCOL §3.5). What others send is accepted as before.
// Calls on the port that wait, and those that are begun before Thaw, end with a FrozenError and have no effect; but a
// message of more than 32 KiB that was being received stays the next one, and Await and Notify go on until there is
// something to receive on a port that is not frozen. Messages on loan stay on loan. Drafts that are committed while the
// port is frozen are not sent.
//
// If ctx ends first, or a rank dies whose answer is waited for, the port is frozen all the same, and may be sent fences
// again by another Freeze, or thawed. The death of a rank is reported by the Freeze that waits for it only.
func (q *Port) Freeze(ctx context.Context) error {
	c := driver.NewCall()
	defer c.Free()
	c.Msg.Kind, c.Msg.Peer = msg.Freeze, Any
	return public(q.p.node.Message(ctx, q.port, c))
}

// Thaw ends what Freeze has begun. The port sends what has not been acknowledged and was refused, or what a state that was
// restored holds. On a port that is not frozen the error is ErrNotFrozen.
func (q *Port) Thaw() error { return public(q.p.node.Thaw(q.port)) }
