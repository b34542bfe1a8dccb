package wire

// The events of barriers (PROTOCOL §9.5), and the refusal that all objects share (PROTOCOL §9.1).

// A Token is an input of a gate of the receiver (PROTOCOL §9.5.1). As EventHello it only says what the sender takes the
// barrier for, before the sender arrives.
type Token struct {
	Kind      EventKind // EventToken or EventHello
	ID        uint64
	Gate      uint8
	Phase     uint64
	Signature uint64

	// Time is of an aligned barrier: on the way up how far the sender is (package coord); on the way down the
	// instant at which to go on, by the first member's clock.
	Time uint64
}

// Event returns the event that carries the token.
func (v Token) Event() Event {
	return Event{Kind: v.Kind, Slot: v.Gate, ID: v.ID, Phase: v.Phase, Arg: v.Signature, Aux: v.Time}
}

// ParseToken is the inverse of Event.
func ParseToken(e Event) Token {
	return Token{Kind: e.Kind, ID: e.ID, Gate: e.Slot, Phase: e.Phase, Signature: e.Arg, Time: e.Aux}
}

// Left says that a member takes part up to Phase and no longer; with Gone it did not leave
// in good order. The home of an RBCQ-1 barrier sends it, too. (PROTOCOL §9.5.3)
//
// Closed, it is EventClosed: the sender is the member, and has closed the barrier. (PROTOCOL §9.5.6)
type Left struct {
	ID     uint64
	Rank   uint32
	Phase  uint64
	Gone   bool
	Closed bool
}

// Event returns the event that carries the news.
func (v Left) Event() Event {
	e := Event{Kind: EventLeft, Flag: v.Gone, ID: v.ID, Rank: v.Rank, Phase: v.Phase}
	if v.Closed {
		e.Kind = EventClosed
	}
	return e
}

// ParseLeft is the inverse of Event.
func ParseLeft(e Event) Left {
	return Left{ID: e.ID, Rank: e.Rank, Phase: e.Phase, Gone: e.Flag, Closed: e.Kind == EventClosed}
}

// A Clock asks the first member of an aligned barrier what its clock says (EventPing), or answers (EventPong).
// (PROTOCOL §9.5.4)
type Clock struct {
	Kind EventKind
	ID   uint64
	Sent uint64 // when the question was sent, by the clock of its sender
	Time uint64 // EventPong: by the first member's clock
}

// Event returns the event as it is sent.
func (v Clock) Event() Event { return Event{Kind: v.Kind, ID: v.ID, Phase: v.Sent, Aux: v.Time} }

// ParseClock is the inverse of Event.
func ParseClock(e Event) Clock { return Clock{Kind: e.Kind, ID: e.ID, Sent: e.Phase, Time: e.Aux} }

// A RegionEvent is of an RBCQ-1 barrier (PROTOCOL §9.5.5).
type RegionEvent struct {
	Kind EventKind
	ID   uint64

	// Rank is in EventRegionSync the sender's index among the members, and in EventRegionBroken the member that is gone.
	Rank uint32

	// Phase is in EventRegionSync the number of barriers until the sender's next, all ones if there is none, and in
	// EventRegionGo the number of the barrier whose code the receiver may pass. In EventRegionBroken 1 says that Rank,
	// the sender, has closed the barrier.
	Phase uint64

	Signature uint64 // to the home
}

// Event returns the event as it is sent.
func (v RegionEvent) Event() Event {
	return Event{Kind: v.Kind, ID: v.ID, Rank: v.Rank, Phase: v.Phase, Arg: v.Signature}
}

// ParseRegionEvent is the inverse of Event.
func ParseRegionEvent(e Event) RegionEvent {
	return RegionEvent{Kind: e.Kind, ID: e.ID, Rank: e.Rank, Phase: e.Phase, Signature: e.Arg}
}

// Refuse says that the signature of a request is not that of the object. With Other it
// tells of another rank, whose signature differs from the receiver's.
type Refuse struct {
	ID        uint64
	Signature uint64 // 0: the sender cannot remember one more object
	Rank      uint32 // with Other
	Other     bool
}

// Event returns the event that carries the refusal.
func (v Refuse) Event() Event {
	return Event{Kind: EventRefuse, Flag: v.Other, ID: v.ID, Rank: v.Rank, Arg: v.Signature}
}

// ParseRefuse is the inverse of Event.
func ParseRefuse(e Event) Refuse {
	return Refuse{ID: e.ID, Signature: e.Arg, Rank: e.Rank, Other: e.Flag}
}
