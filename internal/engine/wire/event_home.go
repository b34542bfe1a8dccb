package wire

// The events of objects with a home other than the distributed queue lock. A serial numbers the requests of one rank
// for one object.

// A PermitEvent is of a central lock, a read-write lock or a semaphore (PROTOCOL §9.3).
type PermitEvent struct {
	Kind       EventKind
	ID         uint64
	Serial     uint32 // 0 in EventPermitRel
	Permits    uint32 // that the sender asks for or gives back
	Signature  uint64 // to the home
	Epoch      uint64 // EventPermitGrant
	HolderDied bool   // EventPermitGrant: a writer has died, and no other has been granted the lock since;
	// EventPermitRel: the writer's program has returned without unlocking
}

// Event returns the event as it is sent.
func (v PermitEvent) Event() Event {
	return Event{
		Kind: v.Kind, Flag: v.HolderDied, Rank: v.Permits, ID: v.ID, Phase: uint64(v.Serial), Arg: v.Signature,
		Aux: v.Epoch,
	}
}

// ParsePermitEvent is the inverse of Event.
func ParsePermitEvent(e Event) PermitEvent {
	return PermitEvent{
		Kind: e.Kind, ID: e.ID, Serial: uint32(e.Phase), Permits: e.Rank, Signature: e.Arg, Epoch: e.Aux,
		HolderDied: e.Flag,
	}
}

// A CondEvent is of a condition (PROTOCOL §9.4). Serial numbers an operation; in EventCondCancel and EventCondWake it
// is that of an EventCondWait.
type CondEvent struct {
	Kind      EventKind
	ID        uint64
	Serial    uint32
	Signature uint64 // to the home
	All       bool   // EventCondSet: wake all waiters, not only the one that has waited longest
	Bit       bool   // to the home: of the bit, which All sets
	Woken     uint64 // EventCondCount: how many waiters were woken
}

// Event returns the event as it is sent.
func (v CondEvent) Event() Event {
	e := Event{Kind: v.Kind, Flag: v.All, ID: v.ID, Phase: uint64(v.Serial), Arg: v.Signature, Aux: v.Woken}
	if v.Bit {
		e.Slot = 1
	}
	return e
}

// ParseCondEvent is the inverse of Event.
func ParseCondEvent(e Event) CondEvent {
	return CondEvent{
		Kind: e.Kind, ID: e.ID, Serial: uint32(e.Phase), Signature: e.Arg, All: e.Flag, Bit: e.Slot != 0, Woken: e.Aux,
	}
}

// A GuardEvent is of the regions that a lock guards (PROTOCOL §9.6).
type GuardEvent struct {
	Kind  EventKind
	Lock  uint64
	Epoch uint64 // regions are closed to older ones, or EventFence: are to be; 0 in EventBind
}

// Event returns the event as it is sent.
func (v GuardEvent) Event() Event { return Event{Kind: v.Kind, ID: v.Lock, Aux: v.Epoch} }

// ParseGuardEvent is the inverse of Event.
func ParseGuardEvent(e Event) GuardEvent { return GuardEvent{Kind: e.Kind, Lock: e.ID, Epoch: e.Aux} }
