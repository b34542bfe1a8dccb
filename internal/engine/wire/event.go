package wire

import "fmt"

// EventSize is the length of the frame in bytes.
const EventSize = 40

// Event is the frame of coordination: one small packet about a lock, a semaphore, a condition
// or a barrier, as it is on the wire (PROTOCOL §9.1). What the fields mean depends on its
// kind. For each family of kinds a type in event_*.go names them: its method Event makes the
// frame, and a function Parse… reads it.
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

// The kinds of events. Those before EventRefuse go to the home of the object, the others to a
// rank that uses it.
const (
	EventLockReq      EventKind = iota + 1 // the sender asks for the lock
	EventLockTry                           // the sender asks for the lock if it is free
	EventLockReturn                        // the sender gives the token back
	EventLockBusy                          // the sender needs the lock that another tries to get
	EventLockState                         // what the sender has, after lock_probe
	EventLockLost                          // the rank that the sender gave the token to is gone
	EventPermitReq                         // the sender asks for permits
	EventPermitTry                         // the sender asks for permits if there are enough
	EventPermitRel                         // the sender gives permits back
	EventPermitCancel                      // the sender takes its request back
	EventCondWait                          // the sender waits
	EventCondSet                           // one waiter is to be woken, or all
	EventCondCancel                        // the sender waits no longer
	EventRegionSync                        // a synchronisation code: RBCQ-1
	EventRegionBroken                      // a member is gone: RBCQ-1
	EventBind                              // the lock guards a region of the sender
	EventFenced                            // the sender's regions are closed to older epochs

	EventRefuse // the receiver's signature is not that of others

	EventLockForward // the receiver's successor
	EventLockReply   // the token
	EventLockDeny    // the lock is not free
	EventLockTryFor  // a rank tries to get the lock, if the receiver does not need it
	EventLockProbe   // what does the receiver have? A rank has died
	EventPermitGrant
	EventPermitDeny
	EventCondAck // the receiver is on the list of waiters
	EventCondWake
	EventCondCount // how many were woken
	EventRegionGo
	EventBound
	EventFence

	EventHello // the sender's signature of a barrier
	EventToken // an input of a barrier's gate
	EventLeft  // a member of a barrier takes no part after a phase
	EventPing  // the sender asks for the first member's time
	EventPong
	EventClosed // the sender has closed the barrier
	eventEnd
)

var eventNames = [...]string{
	EventLockReq: "lock_req", EventLockTry: "lock_try", EventLockReturn: "lock_return", EventLockBusy: "lock_busy",
	EventLockState: "lock_state", EventLockLost: "lock_lost", EventPermitReq: "permit_req", EventPermitTry: "permit_try",
	EventPermitRel:    "permit_rel",
	EventPermitCancel: "permit_cancel", EventCondWait: "cond_wait", EventCondSet: "cond_set",
	EventCondCancel: "cond_cancel",
	EventRegionSync: "region_sync", EventRegionBroken: "region_broken", EventBind: "bind", EventFenced: "fenced",
	EventRefuse: "refuse", EventLockForward: "lock_forw", EventLockReply: "lock_reply", EventLockDeny: "lock_deny",
	EventLockTryFor: "lock_tryfor", EventLockProbe: "lock_probe", EventPermitGrant: "permit_grant",
	EventPermitDeny: "permit_deny", EventCondAck: "cond_ack", EventCondWake: "cond_wake", EventCondCount: "cond_count",
	EventRegionGo: "region_go", EventBound: "bound", EventFence: "fence",
	EventHello: "hello", EventToken: "token", EventLeft: "left", EventPing: "ping", EventPong: "pong",
	EventClosed: "closed",
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
