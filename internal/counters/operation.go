package counters

// Operation says what a goroutine waits for.
type Operation uint8

// The operations that wait.
const (
	Other       Operation = iota
	Send                  // room for a message, or that a long one has been fetched
	Receive               // a message
	Flush                 // that messages, or accesses to a rank's memory, have been accepted
	Attach                // that a region is exposed
	Push                  // the end of a write to another rank's memory
	Pull                  // the bytes of another rank's memory
	Atomic                // the answer to an atomic operation
	Deliver               // room in another rank's mailbox
	Lock                  // a lock
	Semaphore             // permits
	Condition             // a signal
	Barrier               // the end of a phase
	Memory                // what another rank writes here
	HostBarrier           // the end of a phase, as memory that ranks of a host share says it
	_
	Operations // how many there is room for
)

// operations are the names of Operation, in order. HostBarrier is counted apart, and shown as a barrier.
var operations = [...]string{
	"other", "send", "receive", "flush", "attach", "push", "pull", "atomic", "deliver", "lock", "semaphore",
	"condition", "barrier", "memory", "barrier",
}

// String returns the operation's name in lower case.
func (o Operation) String() string {
	if int(o) < len(operations) {
		return operations[o]
	}
	return operations[Other]
}

// A Wait is what waits for one kind of operation have cost: those that had to wait at all.
type Wait struct {
	Count uint64 `json:"count"`
	Slept uint64 `json:"slept"` // of these, how many slept
	// time spent looking for packets; of short waits it is estimated, from how often one looked
	Polled uint64 `json:"polled_ns"`
	Asleep uint64 `json:"asleep_ns"`
}

// add adds the waits of another kind.
func (w *Wait) add(o Wait) {
	w.Count += o.Count
	w.Slept += o.Slept
	w.Polled += o.Polled
	w.Asleep += o.Asleep
}

// A waiting is one goroutine that sleeps until something has come. Its number is even when it
// is whole, and changes whenever it is written.
type waiting struct {
	number    uint64
	operation uint32 // + 1; 0: nobody's
	peer      int32  // the rank that is needed; -1: any, or that is not known
	since     int64
	phase     uint64
	name      [32]byte
}

// A fault is one kind of error. The count is written last.
type fault struct {
	count       uint64
	first, last int64
	peer        int64 // -1: none
	text        [96]byte
}
