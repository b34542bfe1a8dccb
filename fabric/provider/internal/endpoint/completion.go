package endpoint

import "sync/atomic"

// Flags of a completion, as libfabric has them.
const (
	flagMessage     = 1 << 1  // FI_MSG
	flagRemote      = 1 << 2  // FI_RMA
	flagTagged      = 1 << 3  // FI_TAGGED
	flagAtomic      = 1 << 4  // FI_ATOMIC
	flagRead        = 1 << 8  // FI_READ
	flagWrite       = 1 << 9  // FI_WRITE
	flagReceive     = 1 << 10 // FI_RECV
	flagSend        = 1 << 11 // FI_SEND
	flagRemoteWrite = 1 << 13 // FI_REMOTE_WRITE
	flagMultiRecv   = 1 << 16 // FI_MULTI_RECV
	flagData        = 1 << 17 // FI_REMOTE_CQ_DATA
)

// An Errno is an error of libfabric, or 0.
type Errno int32

// The errors.
const (
	ErrNone        Errno = 0
	ErrIO          Errno = 5
	ErrAgain       Errno = 11
	ErrAccess      Errno = 13
	ErrInvalid     Errno = 22
	ErrNoMessage   Errno = 42
	ErrTooLong     Errno = 90
	ErrAborted     Errno = 103
	ErrUnreachable Errno = 113
	ErrCanceled    Errno = 125
	ErrTruncated   Errno = 265
	ErrNoKey       Errno = 266
)

// An Entry tells of the end of one operation, as the program reads it. Its layout is that of struct weft_entry.
type Entry struct {
	Context uintptr // of the operation
	Flags   uint64
	Len     uint64 // of the message, as far as it was received
	Buf     uintptr
	Data    uint64
	Tag     uint64
	Source  uint64 // the sender's fi_addr_t, or NotAvailable
	Over    uint64 // bytes that found no room
	Err     Errno
	_       int32
}

// A Counter counts operations that have ended. Its memory is C's.
type Counter struct{ Ended, Failed uint64 }

// Counters are those of an endpoint, by what they count; nil counts nothing.
type Counters struct{ Sends, Receives, Reads, Writes, RemoteReads, RemoteWrites *Counter }

// add counts one operation.
func (c *Counter) add(err Errno) {
	switch {
	case c == nil:
	case err == ErrNone:
		atomic.AddUint64(&c.Ended, 1)
	default:
		atomic.AddUint64(&c.Failed, 1)
	}
}

// NotAvailable is the fi_addr_t of a sender that the program has not inserted, and of any source in a receive.
const NotAvailable = 1<<64 - 1

// A Ring takes entries to C. Its memory is C's: the program moves Head, the endpoint Tail.
type Ring struct {
	Head, Tail *uint64
	Entries    []Entry // as many as a power of two

	late []Entry // those that have found no room
}

// put appends an entry.
func (r *Ring) put(e *Entry) {
	if len(r.late) > 0 || !r.place(e) {
		r.late = append(r.late, *e)
	}
}

// place writes an entry if there is room.
func (r *Ring) place(e *Entry) bool {
	tail := *r.Tail
	if tail-atomic.LoadUint64(r.Head) == uint64(len(r.Entries)) {
		return false
	}
	r.Entries[tail&uint64(len(r.Entries)-1)] = *e
	atomic.StoreUint64(r.Tail, tail+1)
	return true
}

// catchUp writes the entries that had found no room.
func (r *Ring) catchUp() {
	if len(r.late) == 0 {
		return
	}
	n := 0
	for n < len(r.late) && r.place(&r.late[n]) {
		n++
	}
	r.late = append(r.late[:0], r.late[n:]...)
}
