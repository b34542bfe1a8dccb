// Package mutant holds bugs that can be planted in the engine, so that tests can
// show that the simulator's checkers find them.
//
// In an ordinary build On is a constant false and nothing is left of them. With
// the build tag "mutants" a test chooses one:
//
//	go test -tags mutants ./internal/sim/swarm
package mutant

// A Bug is one thing that can be done wrong.
type Bug int

// The bugs.
const (
	None            Bug = iota
	NoReAck             // link: an old packet is not acknowledged again
	NoPersistProbe      // link: a stopped sender never asks whether it may go
	OldIncarnation      // link: packets of earlier incarnations are accepted
	AcceptGap           // link: a packet after a lost one is accepted
	HeldSentTwice       // msg: what was held is sent with what is resent, and again
	HalfMessage         // msg: a message is handed on when half of it has arrived
	CreditTwice         // msg: the room of a released message is counted twice
	PushEarly           // rma: a PUSH is confirmed at its first packet
	StrayByte           // rma: a PUT writes one byte too many
	LatePut             // rma: a PUT is executed when the next one comes
	AtomicTwice         // rma: an addition is executed twice now and then
	LeakOutstanding     // rma: a refused operation still counts as outstanding
	NoKey               // rma: keys are not checked
	NoProbe             // link: a silent peer is not asked whether it lives
	KeptEarly           // link: a packet that was kept is delivered before one that is missing
	NoLastState         // coord: a rank that releases a lock forgets that it has the token
	ForwardIgnored      // coord: a successor that comes before the lock itself is forgotten
	LateReset           // coord: a barrier counts from new only when the program has been told
	NoParity            // coord: the inputs of two phases are counted together
	EpochUnchecked      // rma: a guarded region takes writes under any epoch
	GateEarly           // coord: a barrier's gate opens one input too early
	VoidToken           // coord: a token from before a repair is taken
	GrantTwice          // coord: a lock that is given is still there to be given
	Untold              // coord: the next holder is not told that the last one died
	TailEarly           // mailbox: Tail is moved before it is known whether there is room
	StatusEarly         // mailbox: the record of a message is written before its bytes
	WrappedFull         // mailbox: pointers are compared as they lie in the ring, so a full one looks empty
	HeadOver            // mailbox: Head moves over messages that have not been released
	SilentAck           // msg: the answer to a request for an acknowledgement wakes no rank
	AskOne              // msg: a send that waits for room asks its own receiver only, not all that hold some
	PromiseKept         // msg: the room that was promised to a rank stays promised when it dies
	DeadPush            // rma: a PUSH whose target dies ends as if it were done
	FenceOnce           // coord: a home waits for ever for the fence of a rank that dies as well
	NewcomersFirst      // msg: a newcomer takes the room for which refused senders wait
	LastFirst           // msg: of the senders that were refused the last is told to come first
	FenceOvertaken      // msg: a frozen port sends again what it is asked for, behind its fence
	FenceIgnored        // msg: a port counts as flushed when the first of its fences has been answered
	RestoredShort       // msg: of what a restored state has not seen acknowledged, the first message is not sent again
	BeatUnanswered      // engine: a peer that asks for a sign of life gets none
	FenceUnheard        // rma: a region takes writes under epochs to which it was closed, if it has seen no later one
	ArmedOverRing       // driver: the doorbell is armed again before the rank that was rung has answered
	NoRest              // driver: a goroutine that polled goes away, and the doorbell stays silent
	UsedAfterClose      // driver: the transports of a closed node are looked at
	DutyForgotten       // driver: the last waiting goroutine goes away, and the service goes on leaving its work to others
	DutyUnwatched       // driver: between two waits nobody watches, and the doorbell is not armed
	BulkOvertaken       // link: a message goes ahead of what is left of a PUSH that was begun before it
	PartMissing         // link: a packet that comes in parts is taken when the first has come
	AnsweredTwice       // am: the credit of an answered request is given back twice now and then
	PacketTwice         // fm: the credit of a packet is given back twice now and then
	WindowShut          // link: a congestion window that has become small stays so
	LossIgnored         // link: losses and timeouts leave the congestion window as it is
	RedirectTwice       // vmmc: a redirection that a transfer has taken is there for the next as well
	DecidedEarly        // agreement: a member has decided before it knows that all have accepted
	LockForgotten       // agreement: in a new view a member does not say what it has accepted
	OldView             // agreement: a message of an earlier view counts in this one
	Unaccused           // agreement: a member that others take for dead, and that lives, is not told
)

// All returns the bugs.
func All() []Bug {
	var all []Bug
	for b := NoReAck; b <= Unaccused; b++ {
		all = append(all, b)
	}
	return all
}

// String returns the bug's name.
func (b Bug) String() string {
	return [...]string{
		"None", "NoReAck", "NoPersistProbe", "OldIncarnation", "AcceptGap", "HeldSentTwice", "HalfMessage", "CreditTwice",
		"PushEarly", "StrayByte", "LatePut", "AtomicTwice", "LeakOutstanding", "NoKey", "NoProbe", "KeptEarly",
		"NoLastState", "ForwardIgnored", "LateReset", "NoParity", "EpochUnchecked", "GateEarly", "VoidToken", "GrantTwice",
		"Untold",
		"TailEarly", "StatusEarly", "WrappedFull", "HeadOver", "SilentAck", "AskOne", "PromiseKept", "DeadPush", "FenceOnce",
		"NewcomersFirst", "LastFirst",
		"FenceOvertaken", "FenceIgnored", "RestoredShort",
		"BeatUnanswered", "FenceUnheard",
		"ArmedOverRing", "NoRest", "UsedAfterClose", "DutyForgotten", "DutyUnwatched", "BulkOvertaken", "PartMissing",
		"AnsweredTwice", "PacketTwice", "WindowShut", "LossIgnored", "RedirectTwice",
		"DecidedEarly", "LockForgotten", "OldView", "Unaccused",
	}[b]
}
