package wire

// The events of conditions (PROTOCOL §9.4). A serial numbers the operations of one
// rank on one condition.

// CondWait puts the sender on the home's list of waiters.
type CondWait struct {
	ID        uint64
	Serial    uint32
	Signature uint64
}

// Event returns the event that carries the request.
func (v CondWait) Event() Event {
	return Event{Kind: EventCondWait, ID: v.ID, Phase: uint64(v.Serial), Arg: v.Signature}
}

// ParseCondWait reads a cond_wait.
func ParseCondWait(e Event) CondWait {
	return CondWait{ID: e.ID, Serial: uint32(e.Phase), Signature: e.Arg}
}

// CondSet wakes the waiter that has waited longest, or all with All.
type CondSet struct {
	ID        uint64
	Serial    uint32
	Signature uint64
	All       bool
}

// Event returns the event that carries the signal.
func (v CondSet) Event() Event {
	return Event{Kind: EventCondSet, Flag: v.All, ID: v.ID, Phase: uint64(v.Serial), Arg: v.Signature}
}

// ParseCondSet reads a cond_set.
func ParseCondSet(e Event) CondSet {
	return CondSet{ID: e.ID, Serial: uint32(e.Phase), Signature: e.Arg, All: e.Flag}
}

// CondCancel takes the sender off the list of waiters.
type CondCancel struct {
	ID        uint64
	Serial    uint32 // of the CondWait
	Signature uint64
}

// Event returns the event that takes the waiter off.
func (v CondCancel) Event() Event {
	return Event{Kind: EventCondCancel, ID: v.ID, Phase: uint64(v.Serial), Arg: v.Signature}
}

// ParseCondCancel reads a cond_cancel.
func ParseCondCancel(e Event) CondCancel {
	return CondCancel{ID: e.ID, Serial: uint32(e.Phase), Signature: e.Arg}
}

// CondAck says that the receiver is on the list of waiters.
type CondAck struct {
	ID     uint64
	Serial uint32
}

// Event returns the event that carries the acknowledgement.
func (v CondAck) Event() Event { return Event{Kind: EventCondAck, ID: v.ID, Phase: uint64(v.Serial)} }

// ParseCondAck reads a cond_ack.
func ParseCondAck(e Event) CondAck { return CondAck{ID: e.ID, Serial: uint32(e.Phase)} }

// CondWake wakes a waiter.
type CondWake struct {
	ID     uint64
	Serial uint32 // of the CondWait
}

// Event returns the event that wakes.
func (v CondWake) Event() Event { return Event{Kind: EventCondWake, ID: v.ID, Phase: uint64(v.Serial)} }

// ParseCondWake reads a cond_wake.
func ParseCondWake(e Event) CondWake { return CondWake{ID: e.ID, Serial: uint32(e.Phase)} }

// CondCount answers a CondSet with the number of waiters that were woken.
type CondCount struct {
	ID     uint64
	Serial uint32
	Woken  uint64
}

// Event returns the event that carries the answer.
func (v CondCount) Event() Event {
	return Event{Kind: EventCondCount, ID: v.ID, Phase: uint64(v.Serial), Aux: v.Woken}
}

// ParseCondCount reads a cond_count.
func ParseCondCount(e Event) CondCount {
	return CondCount{ID: e.ID, Serial: uint32(e.Phase), Woken: e.Aux}
}
