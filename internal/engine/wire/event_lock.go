package wire

// The events of the distributed queue lock (PROTOCOL §9.2). A serial numbers the requests of one rank for one lock. A
// repair numbers the queues that the home has made: it grows by one whenever a rank in the queue has died.

// LockRequest asks the home for a lock: EventLockReq, or EventLockTry if only a free lock will do.
type LockRequest struct {
	Kind      EventKind
	Lock      uint64
	Serial    uint32
	Signature uint64
}

// Event returns the event that carries the request.
func (v LockRequest) Event() Event {
	return Event{Kind: v.Kind, ID: v.Lock, Phase: uint64(v.Serial), Arg: v.Signature}
}

// ParseLockRequest is the inverse of Event.
func ParseLockRequest(e Event) LockRequest {
	return LockRequest{Kind: e.Kind, Lock: e.ID, Serial: uint32(e.Phase), Signature: e.Arg}
}

// A LockToken is the token, or news of it:
//
//	EventLockReply   the token, for a rank that has asked for it
//	EventLockReturn  the token, back to the home; see State
//	EventLockState   what the sender has of the lock, in answer to EventLockProbe
//	EventLockProbe   a repair begins: what does the receiver have?
//	EventLockDeny    the lock is not free, in answer to EventLockTry
//	EventLockLost    the rank to which the sender handed the token is gone, perhaps before the token came
type LockToken struct {
	Kind       EventKind
	Lock       uint64
	Repair     uint64
	Serial     uint32 // EventLockReply and EventLockDeny: of the receiver's request; else of the sender's last one
	Epoch      uint64 // EventLockState: under which the sender has the token, or had it
	HolderDied bool

	// State of EventLockState is that of the state machine of PROTOCOL §9.2; of EventLockReturn it is
	// TokenUnneeded, TokenForTry, TokenElsewhere or TokenForgotten.
	State uint8

	// Rank is the rank to which the sender has sent the token; the number of ranks: to the home. With TokenForTry it
	// is the rank that tries to get the token, and RankSerial its request.
	Rank, RankSerial uint32
}

// Why a rank sends EventLockReturn.
const (
	TokenUnneeded  = iota // the sender does not need the token
	TokenForTry           // another rank tries to get the token
	TokenElsewhere        // the sender leaves, has no token, and says where it sent the token
	TokenForgotten        // the sender forgets the lock, has no token, and says where it sent the token
)

// Event returns the event that carries the token or the news.
func (v LockToken) Event() Event {
	return Event{
		Kind: v.Kind, Flag: v.HolderDied, Slot: v.State, Rank: v.Rank, ID: v.Lock, Phase: v.Repair,
		Arg: uint64(v.Serial) | uint64(v.RankSerial)<<32, Aux: v.Epoch,
	}
}

// ParseLockToken is the inverse of Event.
func ParseLockToken(e Event) LockToken {
	return LockToken{
		Kind: e.Kind, Lock: e.ID, Repair: e.Phase, Serial: uint32(e.Arg), Epoch: e.Aux, HolderDied: e.Flag, State: e.Slot,
		Rank: e.Rank, RankSerial: uint32(e.Arg >> 32),
	}
}

// A LockRival names another rank that wants the lock, and its request:
//
//	EventLockForward  the rank follows the receiver in the queue
//	EventLockTryFor   the rank tries to get the token, if the receiver does not use it
//	EventLockBusy     the sender needs the token itself, in answer to EventLockTryFor
type LockRival struct {
	Kind   EventKind
	Lock   uint64
	Repair uint64
	Serial uint32 // of the receiver's request; 0 in EventLockBusy

	Rank, RankSerial uint32
}

// Event returns the event that carries the name.
func (v LockRival) Event() Event {
	return Event{
		Kind: v.Kind, Rank: v.Rank, ID: v.Lock, Phase: v.Repair, Arg: uint64(v.RankSerial), Aux: uint64(v.Serial),
	}
}

// ParseLockRival is the inverse of Event.
func ParseLockRival(e Event) LockRival {
	return LockRival{
		Kind: e.Kind, Lock: e.ID, Repair: e.Phase, Serial: uint32(e.Aux), Rank: e.Rank, RankSerial: uint32(e.Arg),
	}
}
