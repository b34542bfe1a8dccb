package wire

// The events of barriers that run a plan (PROTOCOL §9.5.1, §9.5.3, §9.5.4), and the
// refusal that all classes share (PROTOCOL §9.1).

// Hello says what the sender takes a barrier for, before it arrives.
type Hello struct {
	ID        uint64
	Signature uint64
}

// Event returns the event that carries the signature.
func (v Hello) Event() Event { return Event{Kind: EventHello, ID: v.ID, Arg: v.Signature} }

// Token is an input of a gate of the receiver.
type Token struct {
	ID        uint64
	Gate      uint8
	Phase     uint64
	Signature uint64

	// Time is of an aligned barrier: on the way up the delay of a token; on the way down the
	// instant at which to go on, by the first member's clock, or with Relative how long
	// after the token's arrival.
	Time     uint64
	Relative bool
}

// Event returns the event that carries the token.
func (v Token) Event() Event {
	return Event{
		Kind: EventToken, Flag: v.Relative, Slot: v.Gate, ID: v.ID, Phase: v.Phase,
		Arg: v.Signature, Aux: v.Time,
	}
}

// ParseToken reads a token.
func ParseToken(e Event) Token {
	return Token{ID: e.ID, Gate: e.Slot, Phase: e.Phase, Signature: e.Arg, Time: e.Aux, Relative: e.Flag}
}

// Left says that a member takes part up to Phase and no longer; with Gone it did not leave
// in good order. The home of an RBCQ-1 barrier sends it, too.
type Left struct {
	ID    uint64
	Rank  uint32
	Phase uint64
	Gone  bool
}

// Event returns the event that carries the news.
func (v Left) Event() Event {
	return Event{Kind: EventLeft, Flag: v.Gone, ID: v.ID, Rank: v.Rank, Phase: v.Phase}
}

// ParseLeft reads a left.
func ParseLeft(e Event) Left { return Left{ID: e.ID, Rank: e.Rank, Phase: e.Phase, Gone: e.Flag} }

// Ping asks the first member of an aligned barrier what its clock says.
type Ping struct {
	ID   uint64
	Sent uint64 // when, by the sender's clock
}

// Event returns the event that carries the question.
func (v Ping) Event() Event { return Event{Kind: EventPing, ID: v.ID, Phase: v.Sent} }

// ParsePing reads a ping.
func ParsePing(e Event) Ping { return Ping{ID: e.ID, Sent: e.Phase} }

// Pong answers a Ping.
type Pong struct {
	ID   uint64
	Sent uint64 // of the Ping
	Time uint64 // by the first member's clock
}

// Event returns the event that carries the answer.
func (v Pong) Event() Event { return Event{Kind: EventPong, ID: v.ID, Phase: v.Sent, Aux: v.Time} }

// ParsePong reads a pong.
func ParsePong(e Event) Pong { return Pong{ID: e.ID, Sent: e.Phase, Time: e.Aux} }

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

// ParseRefuse reads a refuse.
func ParseRefuse(e Event) Refuse {
	return Refuse{ID: e.ID, Signature: e.Arg, Rank: e.Rank, Other: e.Flag}
}
