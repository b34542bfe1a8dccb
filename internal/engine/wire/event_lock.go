package wire

// The events of the distributed queue lock (PROTOCOL §9.2). A serial numbers the
// requests of one rank for one lock. A repair numbers the queues that the home has
// made: it grows by one whenever a rank in the queue has died.

// LockRequest asks the home for a lock: lock_req, or lock_try with Try.
type LockRequest struct {
	Lock      uint64
	Serial    uint32
	Signature uint64
	Try       bool // only if no other rank holds the lock or waits for it
}

// Event returns the event that carries the request.
func (v LockRequest) Event() Event {
	kind := EventLockReq
	if v.Try {
		kind = EventLockTry
	}
	return Event{Kind: kind, ID: v.Lock, Phase: uint64(v.Serial), Arg: v.Signature}
}

// ParseLockRequest reads a lock_req or lock_try.
func ParseLockRequest(e Event) LockRequest {
	return LockRequest{Lock: e.ID, Serial: uint32(e.Phase), Signature: e.Arg, Try: e.Kind == EventLockTry}
}

// The slots of lock_return say why it is sent.
const (
	slotReturned = 0 // the token goes back: the sender does not need it
	slotForTry   = 1 // the token goes back, for a rank that tries to get it
	slotLeaving  = 2 // no token: the sender leaves, and says where it sent the token
)

// trySerialAt is where arg of a lock_return holds the serial of the rank that tries.
const trySerialAt = 32

// LockReturn gives the token back to the home.
type LockReturn struct {
	Lock       uint64
	Repair     uint64
	Serial     uint32 // of the sender's request
	Epoch      uint64
	HolderDied bool

	// ForTry: the token is for the request TrySerial of TryRank, a lock_try.
	ForTry    bool
	TryRank   uint32
	TrySerial uint32
}

// Event returns the event that carries the token.
func (v LockReturn) Event() Event {
	e := Event{
		Kind: EventLockReturn, Flag: v.HolderDied, ID: v.Lock, Phase: v.Repair,
		Arg: uint64(v.Serial), Aux: v.Epoch, Slot: slotReturned,
	}
	if v.ForTry {
		e.Slot = slotForTry
		e.Rank = v.TryRank
		e.Arg |= uint64(v.TrySerial) << trySerialAt
	}
	return e
}

// ParseLockReturn reads a lock_return for which Leaving reports false.
func ParseLockReturn(e Event) LockReturn {
	return LockReturn{
		Lock: e.ID, Repair: e.Phase, Serial: uint32(e.Arg), Epoch: e.Aux, HolderDied: e.Flag,
		ForTry: e.Slot == slotForTry, TryRank: e.Rank, TrySerial: uint32(e.Arg >> trySerialAt),
	}
}

// LockState says what the sender has of a lock: the answer to lock_probe. With Leaving
// it is a lock_return without a token, of a rank that leaves the job in good order.
type LockState struct {
	Lock       uint64
	Repair     uint64
	State      uint8  // of the state machine of PROTOCOL §9.2; not sent with Leaving
	Serial     uint32 // of the sender's last request
	Epoch      uint64 // under which it has the token, or had it
	PassedTo   uint32 // the rank to which it has sent the token; the number of ranks: to the home
	HolderDied bool
	Leaving    bool
}

// Event returns the event that carries the state.
func (v LockState) Event() Event {
	kind := EventLockState
	slot := v.State
	if v.Leaving {
		kind = EventLockReturn
		slot = slotLeaving
	}
	return Event{
		Kind: kind, Flag: v.HolderDied, Slot: slot, ID: v.Lock, Phase: v.Repair,
		Rank: v.PassedTo, Arg: uint64(v.Serial), Aux: v.Epoch,
	}
}

// ParseLockState reads a lock_state, or a lock_return for which Leaving reports true.
func ParseLockState(e Event) LockState {
	v := LockState{
		Lock: e.ID, Repair: e.Phase, State: e.Slot, Serial: uint32(e.Arg), Epoch: e.Aux,
		PassedTo: e.Rank, HolderDied: e.Flag, Leaving: Leaving(e),
	}
	if v.Leaving {
		v.State = 0
	}
	return v
}

// Leaving reports whether a lock_return brings no token: its sender leaves.
func Leaving(e Event) bool { return e.Kind == EventLockReturn && e.Slot == slotLeaving }

// LockBusy answers LockTryFor: the sender needs the token itself.
type LockBusy struct {
	Lock      uint64
	TryRank   uint32 // the rank that tries
	TrySerial uint32 // and its request
}

// Event returns the event that carries the answer.
func (v LockBusy) Event() Event {
	return Event{Kind: EventLockBusy, ID: v.Lock, Rank: v.TryRank, Arg: uint64(v.TrySerial)}
}

// ParseLockBusy reads a lock_busy.
func ParseLockBusy(e Event) LockBusy {
	return LockBusy{Lock: e.ID, TryRank: e.Rank, TrySerial: uint32(e.Arg)}
}

// LockLost tells the home that the rank to which the sender handed the token is gone,
// perhaps before the token came.
type LockLost struct{ Lock uint64 }

// Event returns the event that carries the news.
func (v LockLost) Event() Event { return Event{Kind: EventLockLost, ID: v.Lock} }

// LockForward tells a rank in the queue which rank follows it.
type LockForward struct {
	Lock       uint64
	Repair     uint64
	Serial     uint32 // the receiver's request
	Next       uint32 // the rank that follows
	NextSerial uint32 // and its request
}

// Event returns the event that carries the successor.
func (v LockForward) Event() Event {
	return Event{
		Kind: EventLockForward, ID: v.Lock, Phase: v.Repair,
		Rank: v.Next, Arg: uint64(v.NextSerial), Aux: uint64(v.Serial),
	}
}

// ParseLockForward reads a lock_forw.
func ParseLockForward(e Event) LockForward {
	return LockForward{Lock: e.ID, Repair: e.Phase, Serial: uint32(e.Aux), Next: e.Rank, NextSerial: uint32(e.Arg)}
}

// LockReply carries the token to a rank that has asked for it.
type LockReply struct {
	Lock       uint64
	Repair     uint64
	Serial     uint32 // the receiver's request
	Epoch      uint64
	HolderDied bool
}

// Event returns the event that carries the token.
func (v LockReply) Event() Event {
	return Event{
		Kind: EventLockReply, Flag: v.HolderDied, ID: v.Lock, Phase: v.Repair,
		Arg: uint64(v.Serial), Aux: v.Epoch,
	}
}

// ParseLockReply reads a lock_reply.
func ParseLockReply(e Event) LockReply {
	return LockReply{Lock: e.ID, Repair: e.Phase, Serial: uint32(e.Arg), Epoch: e.Aux, HolderDied: e.Flag}
}

// LockDeny answers a request with Try: the lock is not free.
type LockDeny struct {
	Lock   uint64
	Serial uint32 // the receiver's request
}

// Event returns the event that carries the refusal.
func (v LockDeny) Event() Event {
	return Event{Kind: EventLockDeny, ID: v.Lock, Arg: uint64(v.Serial)}
}

// ParseLockDeny reads a lock_deny.
func ParseLockDeny(e Event) LockDeny { return LockDeny{Lock: e.ID, Serial: uint32(e.Arg)} }

// LockTryFor asks the last rank in the queue for the token, if it does not use it:
// another rank tries to get it.
type LockTryFor struct {
	Lock      uint64
	Repair    uint64
	Serial    uint32 // the receiver's request
	TryRank   uint32 // the rank that tries
	TrySerial uint32 // and its request
}

// Event returns the event that carries the question.
func (v LockTryFor) Event() Event {
	return Event{
		Kind: EventLockTryFor, ID: v.Lock, Phase: v.Repair,
		Rank: v.TryRank, Arg: uint64(v.TrySerial), Aux: uint64(v.Serial),
	}
}

// ParseLockTryFor reads a lock_tryfor.
func ParseLockTryFor(e Event) LockTryFor {
	return LockTryFor{Lock: e.ID, Repair: e.Phase, Serial: uint32(e.Aux), TryRank: e.Rank, TrySerial: uint32(e.Arg)}
}

// LockProbe begins a repair: the home asks every rank in the queue what it has.
type LockProbe struct {
	Lock   uint64
	Repair uint64
}

// Event returns the event that carries the question.
func (v LockProbe) Event() Event { return Event{Kind: EventLockProbe, ID: v.Lock, Phase: v.Repair} }

// ParseLockProbe reads a lock_probe.
func ParseLockProbe(e Event) LockProbe { return LockProbe{Lock: e.ID, Repair: e.Phase} }
