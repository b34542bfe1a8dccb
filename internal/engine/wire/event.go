package wire

import "fmt"

// EventSize is the length of the frame.
const EventSize = 40

// Event is the only frame of coordination: one small packet that says what has
// happened to a lock, a semaphore, a condition or a barrier. What the fields
// mean depends on its kind. (PROTOCOL §9)
type Event struct {
	Kind  EventKind
	Flag  bool
	Slot  uint8
	Rank  uint32
	ID    uint64 // what it is about
	Phase uint64
	Arg   uint64
	Aux   uint64
}

// EventKind says what an event tells.
type EventKind uint8

// The kinds of events. Those up to EventRefuse go to the home of what they are
// about, the others to one who uses it.
const (
	EventLockReq      EventKind = iota + 1 // queue me
	EventLockTry                           // give me the lock if nobody has it
	EventLockReturn                        // here is the token, I do not need it
	EventLockBusy                          // the one who asked for a try cannot have it
	EventLockState                         // what I have, after a probe
	EventLockLost                          // whom I gave the token is gone: perhaps before it came
	EventPermitReq                         // give me permits, when there are
	EventPermitTry                         // give me permits if there are
	EventPermitRel                         // here they are again
	EventPermitCancel                      // I do not want them any more
	EventCondWait                          // I wait
	EventCondSet                           // wake one, or all
	EventCondCancel                        // I do not wait any more
	EventPhaseJoin                         // I take part from now on
	EventPhaseArrive                       // I have arrived
	EventPhaseLeave                        // I take no part any more
	EventRegionSync                        // a synchronisation code: RBCQ-1
	EventRegionBroken                      // a member is gone: RBCQ-1
	EventBind                              // my region is guarded by the lock
	EventFenced                            // it is closed to older epochs

	EventRefuse // what you say of it is not what others say

	EventLockForward // your successor
	EventLockReply   // the lock is yours
	EventLockDeny    // it is not
	EventLockTryFor  // somebody would have the lock if you do not need it
	EventLockProbe   // what have you: somebody has died
	EventPermitGrant
	EventPermitDeny
	EventCondAck // you are on the list, or off it
	EventCondWake
	EventCondCount // how many were woken
	EventPhaseOpen // the phase from which you take part, or that has ended
	EventRegionGo
	EventBound
	EventFence

	EventHello // we are in a barrier together, of this kind
	EventToken // an input of a barrier's gate
	EventLeft  // a member of a barrier takes no part after a phase
	EventPing  // what time is it
	EventPong
	eventEnd
)

var eventNames = [...]string{
	EventLockReq: "lock_req", EventLockTry: "lock_try", EventLockReturn: "lock_return", EventLockBusy: "lock_busy",
	EventLockState: "lock_state", EventLockLost: "lock_lost", EventPermitReq: "permit_req", EventPermitTry: "permit_try",
	EventPermitRel:    "permit_rel",
	EventPermitCancel: "permit_cancel", EventCondWait: "cond_wait", EventCondSet: "cond_set",
	EventCondCancel: "cond_cancel",
	EventPhaseJoin:  "phase_join", EventPhaseArrive: "phase_arrive", EventPhaseLeave: "phase_leave",
	EventRegionSync: "region_sync", EventRegionBroken: "region_broken", EventBind: "bind", EventFenced: "fenced",
	EventRefuse: "refuse", EventLockForward: "lock_forw", EventLockReply: "lock_reply", EventLockDeny: "lock_deny",
	EventLockTryFor: "lock_tryfor", EventLockProbe: "lock_probe", EventPermitGrant: "permit_grant",
	EventPermitDeny: "permit_deny", EventCondAck: "cond_ack", EventCondWake: "cond_wake", EventCondCount: "cond_count",
	EventPhaseOpen: "phase_open", EventRegionGo: "region_go", EventBound: "bound", EventFence: "fence",
	EventHello: "hello", EventToken: "token", EventLeft: "left", EventPing: "ping", EventPong: "pong",
}

// String returns the name that PROTOCOL gives the kind.
func (k EventKind) String() string {
	if k > 0 && k < eventEnd {
		return eventNames[k]
	}
	return fmt.Sprintf("event %d", uint8(k))
}

// Append appends the frame to b.
func (f Event) Append(b []byte) []byte {
	b, h := head(b, EventSize, TypeEvent, f.Flag)
	h[2] = byte(f.Kind)
	h[3] = f.Slot
	order.PutUint32(h[4:], f.Rank)
	order.PutUint64(h[8:], f.ID)
	order.PutUint64(h[16:], f.Phase)
	order.PutUint64(h[24:], f.Arg)
	order.PutUint64(h[32:], f.Aux)
	return b
}

// ParseEvent parses an EVENT frame.
func ParseEvent(b []byte) (f Event, err error) {
	if f.Flag, err = parse(b, EventSize, TypeEvent); err != nil {
		return f, err
	}
	if f.Kind = EventKind(b[2]); len(b) != EventSize || f.Kind == 0 || f.Kind >= eventEnd {
		return f, ErrField
	}
	f.Slot = b[3]
	f.Rank = u32(b, 4)
	f.ID = u64(b, 8)
	f.Phase = u64(b, 16)
	f.Arg = u64(b, 24)
	f.Aux = u64(b, 32)
	return f, nil
}

// Signature returns what the sender of a request or a hello takes the object for.
// (PROTOCOL §9.1)
func Signature(e Event) uint64 { return e.Arg }
