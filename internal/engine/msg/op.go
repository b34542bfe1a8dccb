package msg

import "weft/internal/engine/list"

// Any as the Peer of a Recv accepts messages from every rank.
const Any = -1

// Kind says what an Op does.
type Kind uint8

// The kinds of operations.
const (
	Send   Kind = iota // give Buf to Peer
	Recv               // take the next message from Peer, or from Any
	Flush              // wait until everything sent before, to Peer or to Any, has been accepted
	Room               // wait until there is room to send a short message to Peer
	Await              // wait until there is something to receive, and leave it there
	Freeze             // send nothing any more, and wait until nothing of ours is on its way
)

// State is how far an Op has come.
type State uint8

// The states of an operation.
const (
	Pending State = iota // the engine has it
	Offered              // Recv: a long message is ready; call Fetch or Fetched
	Done                 // the results are valid, the engine has forgotten it
)

// An Op is one send, receive or flush. The caller fills in the first group of
// fields, lends the Op to the engine, and gets it back when it is Done.
type Op struct {
	Kind Kind
	Peer int
	Buf  []byte // Send: the message. Recv: where it goes; nil to borrow a block

	// Mem and Addr tell receivers that can read our memory where Buf lies:
	// shared memory and the offset in it, or 0 and an address.
	Mem  uint32
	Addr uint64

	// Alone: no goroutine waits for it yet. What it needs of peers must wake this process.
	Alone bool

	// Aside: a long message that is offered to this Recv is its caller's until Done, and others are received
	// meanwhile. A Fetch that is cancelled can be repeated, Decline turns the sender away, and if the sender has given
	// up, the Recv ends with failure.ErrWithdrawn.
	Aside bool

	Quiet bool // Decline tells the sender of a message that was kept aside nothing

	// Owner is the caller's, untouched.
	Owner any

	State State
	Err   error
	From  int    // Recv: the sender
	N     int    // Recv: length of the message
	Seq   uint32 // of the message that was sent or received, among those of its sender, receiver and channel
	Block *Block // Recv without Buf: the message, until Release
	Offer Offer  // Recv: the long message offered

	port    *Port
	link    list.Link[Op]
	left    int    // Flush: pairs not yet drained
	got     int    // Recv: bytes fetched
	token   uint32 // Send: token of a long message, from 1
	packets bool   // its bytes have been asked for in packets
	borrow  bool   // Recv: started without Buf

	recalled bool // Recv: the message that was offered has been put back, as the port was frozen
}

// An Offer describes a long message that waits at its sender.
type Offer struct {
	From  int
	Token uint32
	Total int
	Mem   uint32
	Addr  uint64
	Seq   uint32 // of the announcement, as Op.Seq

	kept *kept
}

// kept is a long message that had been fetched when the receive that wanted it
// was given up. Its sender has been told that we have it, so it is not fetched
// again. The sender's answer finds it by its token, wherever the offer is by then:
// in a queue, or in the hands of the next receive.
type kept struct {
	from    int
	token   uint32
	bytes   []byte
	settled bool // the sender has confirmed that it is good
	void    bool // the sender had given it up
}

// takeAll removes the operations for which match reports true from a list, and returns them.
func takeAll(l *list.List[Op], match func(*Op) bool) (found []*Op) {
	l.Take(match, func(op *Op) { found = append(found, op) })
	return found
}
