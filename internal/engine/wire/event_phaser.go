package wire

// The events of barriers that have a home: those whose members come and go (PROTOCOL
// §9.5.5) and RBCQ-1 (PROTOCOL §9.5.6).

// PhaseJoin makes the sender a member.
type PhaseJoin struct {
	ID        uint64
	Phase     uint64 // the last one that the sender knows of
	Signature uint64
}

// Event returns the event that carries the request.
func (v PhaseJoin) Event() Event {
	return Event{Kind: EventPhaseJoin, ID: v.ID, Phase: v.Phase, Arg: v.Signature}
}

// PhaseArrive says that a member has arrived at a phase.
type PhaseArrive struct {
	ID        uint64
	Phase     uint64
	Signature uint64
}

// Event returns the event that carries the arrival.
func (v PhaseArrive) Event() Event {
	return Event{Kind: EventPhaseArrive, ID: v.ID, Phase: v.Phase, Arg: v.Signature}
}

// ParsePhaseArrive reads a phase_arrive.
func ParsePhaseArrive(e Event) PhaseArrive {
	return PhaseArrive{ID: e.ID, Phase: e.Phase, Signature: e.Arg}
}

// PhaseLeave says that a member takes no part any more, from a phase on.
type PhaseLeave struct {
	ID        uint64
	Phase     uint64
	Signature uint64
}

// Event returns the event that carries the news.
func (v PhaseLeave) Event() Event {
	return Event{Kind: EventPhaseLeave, ID: v.ID, Phase: v.Phase, Arg: v.Signature}
}

// slotJoined is the slot of a phase_open that answers phase_join.
const slotJoined = 1

// PhaseOpen opens a phase, and so ends the one before. With Joined it tells a new member
// from which phase on it takes part.
type PhaseOpen struct {
	ID     uint64
	Phase  uint64
	Joined bool
	Broken bool   // the phase before has ended because Rank has died
	Rank   uint32 // with Broken
}

// Event returns the event that opens the phase.
func (v PhaseOpen) Event() Event {
	e := Event{Kind: EventPhaseOpen, Flag: v.Broken, ID: v.ID, Rank: v.Rank, Phase: v.Phase}
	if v.Joined {
		e.Slot = slotJoined
	}
	return e
}

// ParsePhaseOpen reads a phase_open.
func ParsePhaseOpen(e Event) PhaseOpen {
	return PhaseOpen{ID: e.ID, Phase: e.Phase, Joined: e.Slot == slotJoined, Broken: e.Flag, Rank: e.Rank}
}

// RegionSync is a code of an RBCQ-1 barrier.
type RegionSync struct {
	ID        uint64
	Member    uint32 // the sender's index among the members
	Distance  uint64 // barriers until the member's next; all ones: there is none
	Signature uint64
}

// Event returns the event that carries the code.
func (v RegionSync) Event() Event {
	return Event{Kind: EventRegionSync, ID: v.ID, Rank: v.Member, Phase: v.Distance, Arg: v.Signature}
}

// ParseRegionSync reads a region_sync.
func ParseRegionSync(e Event) RegionSync {
	return RegionSync{ID: e.ID, Member: e.Rank, Distance: e.Phase, Signature: e.Arg}
}

// RegionBroken tells the home of an RBCQ-1 barrier that a member is gone.
type RegionBroken struct {
	ID        uint64
	Rank      uint32
	Signature uint64
}

// Event returns the event that carries the news.
func (v RegionBroken) Event() Event {
	return Event{Kind: EventRegionBroken, ID: v.ID, Rank: v.Rank, Arg: v.Signature}
}

// ParseRegionBroken reads a region_broken.
func ParseRegionBroken(e Event) RegionBroken {
	return RegionBroken{ID: e.ID, Rank: e.Rank, Signature: e.Arg}
}

// RegionGo lets a member pass the code that it waits at.
type RegionGo struct {
	ID      uint64
	Barrier uint64 // the number of the barrier whose code it is
}

// Event returns the event that lets the member go on.
func (v RegionGo) Event() Event { return Event{Kind: EventRegionGo, ID: v.ID, Phase: v.Barrier} }

// ParseRegionGo reads a region_go.
func ParseRegionGo(e Event) RegionGo { return RegionGo{ID: e.ID, Barrier: e.Phase} }
