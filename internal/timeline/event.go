package timeline

// A Kind says what a rank did.
type Kind uint8

// The kinds of events. Those of coordination are in the order of package coord's.
const (
	Send     Kind = iota // a message, until the caller may use its buffer again
	Receive              // a message
	Fetch                // the bytes of a long message that has been received
	Flush                // until all messages that were sent have been accepted
	Room                 // until there is room to send
	Await                // until there is something to receive
	Freeze               // until nothing of a port is on its way
	Attach               // a region is looked up
	Push                 // bytes are written to a region
	Pull                 // bytes are read from a region
	Put                  // a few bytes are written to a region, without waiting
	Atomic               // one word of a region is changed
	Complete             // until everything begun on a rank's regions has been done
	IPush                // a message to a mailbox
	Mail                 // until a mailbox has something
	Deliver              // a message that a mailbox has handed over
	Look                 // until a word of memory has changed
	Lock
	TryLock
	RLock
	TryRLock
	Unlock
	Acquire
	TryAcquire
	Release
	Enter
	AwaitPhase // until a phase of a barrier is over, or a waiter of a condition has been woken
	Signal
	Broadcast
	Arrive
	Pass // arrives at a barrier, and waits until the phase is over
	Join
	Leave
	Sync
	Sleep      // a goroutine that waits sleeps: before, it has polled
	PacketsOut // packets that a network has taken
	PacketsIn  // packets that a network has brought
	Fault      // that a test has made happen to the rank; its ID has the name, and its Size says how long it lasts, in ns
	kinds
)

var names = [kinds]string{
	"send", "receive", "fetch", "flush", "wait for room", "wait for a message", "freeze",
	"attach", "push", "pull", "put", "atomic", "complete", "ipush", "wait for mail", "deliver",
	"wait for memory",
	"lock", "try lock", "read lock", "try read lock", "unlock", "acquire", "try acquire", "release",
	"enter", "wait for phase", "signal", "broadcast", "arrive", "barrier", "join", "leave", "sync",
	"sleep", "packets out", "packets in", "fault",
}

// String returns the name that the timeline shows.
func (k Kind) String() string {
	if k >= kinds {
		return "unknown"
	}
	return names[k]
}

// Message reports whether an event's ID is that of a message.
func (k Kind) Message() bool { return k.Sends() || k.Receives() }

// Sends reports whether an event is where a message begins.
func (k Kind) Sends() bool { return k == Send || k == IPush }

// Receives reports whether an event is where a message ends.
func (k Kind) Receives() bool { return k == Receive || k == Fetch || k == Deliver }

// Coordinates reports whether an event's ID is that of a lock, a barrier or the like.
func (k Kind) Coordinates() bool { return k >= Lock && k <= Sync }

// Packets reports whether an event is about packets.
func (k Kind) Packets() bool { return k == PacketsOut || k == PacketsIn }

// Nobody stands for no rank, or for any.
const Nobody = -1

// An Event is something that a rank did, from Begin to End by the clock of its recording.
type Event struct {
	Begin, End int64
	ID         uint64 // of a message or of what coordinates, or 0; of packets how many had been sent before
	Size       uint64 // bytes; of a barrier the phase
	Peer       int32  // or Nobody
	Count      uint16 // packets
	Kind       Kind
	Flags      Flags
}

// Flags tell more of an event.
type Flags uint8

// Failed says that the operation has ended with an error.
const Failed Flags = 1

// MessageID returns the number of a message in the job, which its sender and its receiver
// both know. Different messages have different numbers, but for one in 2^64.
func MessageID(from, to int, channel uint16, seq uint32) uint64 {
	h := mix(uint64(from)<<32 | uint64(uint32(to)))
	return mix(h^(uint64(channel)<<32|uint64(seq))) | 1 // 0 is none
}

// MailID returns the number of a message to a mailbox of a rank. The ticket is that of its last
// record, which the sender and the mailbox's owner both know. A mailbox has 2^32 of them, so that
// no two messages of a recording have the same.
func MailID(owner int, mailbox, ticket uint32) uint64 {
	h := mix(^uint64(owner))
	return mix(h^(uint64(mailbox)<<32|uint64(ticket))) | 1
}

// mix spreads the bits of a number over all of it: the finalizer of SplitMix64.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
