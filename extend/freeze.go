package extend

import (
	"context"

	"weft/internal/driver"
	"weft/internal/engine/msg"
)

// The calls below save the state of a port and put another state in its place. PM's channel
// contexts do so for gang scheduling, where two jobs take turns on the same nodes. All ranks
// that use the channel make the same calls, in this order:
//
//	q.Freeze(ctx)            // now nothing from this rank is in the network
//	b.Wait(ctx)              // now nothing from any rank is
//	q.Save(&mine)
//	q.Restore(&other)        // or nil: the state of a new port
//	b.Wait(ctx)              // now all ranks have the other state
//	q.Thaw()
//
// Barrier b does not use the channel. States that only some ranks have saved, or that they have
// saved at different times, are useless, because their sequence numbers do not match.

// Freeze stops the port from sending, and returns when nothing that it has sent is in the network
// any more: each rank has answered a fence that followed everything sent to it (PROTOCOL §3.5).
// Messages from other ranks are still accepted.
//
// Calls that wait on the port, and calls that are begun before Thaw, end with a weft.FrozenError and
// have no effect. A message of more than 32 KiB that was being received stays the next one.
// Await and Notify go on, until there is something to receive and the port is not frozen.
// Messages on loan stay on loan. Drafts that are committed while the port is frozen are not
// sent.
//
// If ctx ends first, or a rank dies whose answer is missing, the port is frozen all the same.
// Then Freeze can be called again, or Thaw. The death of a rank is reported only by the Freeze
// that waits for its answer.
func (x *Port) Freeze(ctx context.Context) error {
	c := driver.NewCall()
	defer c.Free()
	c.Msg.Kind = msg.Freeze
	c.Msg.Peer = msg.Any
	return x.in.Node.Message(ctx, x.in.Port, c)
}

// Thaw lets a frozen port send again, beginning with the messages that have not been
// acknowledged. If the port is not frozen the error matches weft.ErrNotFrozen.
func (x *Port) Thaw() error { return x.in.Node.Thaw(x.in.Port) }
