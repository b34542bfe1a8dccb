package record

import (
	"weft/internal/engine"
	"weft/internal/engine/coord"
	"weft/internal/engine/link"
	"weft/internal/engine/msg"
	"weft/internal/engine/rma"
	"weft/internal/mailbox"
	"weft/internal/monotime"
)

// A Kind says what an input is.
type Kind string

// The inputs that an Engine takes by Do, with the fields that they have. Others have methods of Engine.
const (
	Resize   Kind = "resize"   // packets to Rank may have N bytes from Now on
	Want     Kind = "want"     // a connection to Rank is asked for
	Down     Kind = "down"     // Rank is gone, for Cause; OK: it has left in order
	Returned Kind = "returned" // the program of Rank has returned
	Leave    Kind = "leave"    // the peers are told that this process leaves the job, or has failed for the reason Name
	Retry    Kind = "retry"    // packets that found no room in a transport are offered again
	Pause    Kind = "pause"    // what is left to send waits for Retry
	Drain    Kind = "drain"    // all peers are asked to acknowledge what was sent to them
	Knock    Kind = "knock"    // Rank is told that something was written to its mailbox N

	Close  Kind = "close"  // of a port, as those below
	Revoke Kind = "revoke" // M ends it here and for Ranks, because Rank has gone or for the reason Name
	Ask    Kind = "ask"    // its peers are asked to acknowledge

	Cancel  Kind = "cancel"  // of a port's operation, as those below: it is taken back
	Fetch   Kind = "fetch"   // the bytes of an offered message, into the operation's buffer
	Fetched Kind = "fetched" // they have been read in another way
	Decline Kind = "decline" // an offered message is put back

	Shorten Kind = "shorten" // of a port's draft, as those below: it has N bytes
	Discard Kind = "discard" // it is given back unsent; it was for Rank

	CancelSync Kind = "cancel sync" // of an operation of coordination
	Room       Kind = "room"        // of a mailbox: room has been given back
	Withdraw   Kind = "withdraw"    // of a region or a mailbox: it is exposed no more
)

// An Input is something that goes into an engine, or that the engine found out while it ran: whether a lane took a
// packet.
type Input struct {
	Do   Kind
	Now  monotime.Time `json:",omitzero"`
	Rank int           `json:",omitzero"` // the peer
	N    int           `json:",omitzero"` // what a call returned, or the size of something
	M    int           `json:",omitzero"` // of N packets, how many were taken
	OK   bool          `json:",omitzero"`

	Ref   Ref   `json:"-"`
	Cause error `json:"-"` // Name is its text

	Port   int    `json:",omitzero"` // Ref.Port, in the order of opening, from 1
	Op     int    `json:",omitzero"` // the operation of Ref, in the order of starting, from 1
	Block  int    `json:",omitzero"` // Ref.Block, counted with the operations
	Region uint32 `json:",omitzero"`

	Ranks []int `json:",omitempty"` // that are told something

	Name   string       `json:",omitzero"`
	Bytes  []byte       `json:",omitzero"` // a packet
	Hash   uint64       `json:",omitzero"` // of the engine's state
	Random uint64       `json:",omitzero"`
	Engine *Config      `json:",omitzero"`
	Path   *engine.Path `json:",omitzero"` // without its lane: OK says that it has one
	Open   *msg.Config  `json:",omitzero"`
	Msg    *Message     `json:",omitzero"`
	RMA    *Access      `json:",omitzero"`

	Box    *mailbox.Geometry `json:",omitzero"`
	Object *coord.Config     `json:",omitzero"`
	Sync   *Sync             `json:",omitzero"`
}

// A Ref says what an input is about. A recording has a number for each; see Input.
type Ref struct {
	Port   *msg.Port
	Block  *msg.Block // a message on loan or a draft, of Port
	Msg    *msg.Op    // of Port
	RMA    *rma.Op
	Sync   *coord.Op
	Region *rma.Region
}

// op returns the operation, or nil.
func (r *Ref) op() any {
	switch {
	case r.Msg != nil:
		return r.Msg
	case r.RMA != nil:
		return r.RMA
	case r.Sync != nil:
		return r.Sync
	}
	return nil
}

// Config is engine.Config, without what cannot be written down. Secret is not the
// job's: the packets of the recording have tags by a secret that is made for it.
type Config struct {
	Rank, Size, MaxQueue int
	Job                  uint64
	Secret               []byte
	Incarnation          uint64
	Link                 link.Config
}

// A Message is a msg.Op; of its buffer only the length counts.
type Message struct {
	Kind      msg.Kind
	Peer, Len int
	Nil       bool // there is no buffer
	Aside     bool `json:",omitzero"`
	Mem       uint32
	Addr      uint64
}

// An Access is an rma.Op.
type Access struct {
	Kind, Code uint8
	Peer, Len  int
	Name       string
	Region     uint32
	Key, Off   uint64
	A, B       uint64
	Entry      uint16 `json:",omitzero"`
	Mode       uint8  `json:",omitzero"`
	Lock       uint64 `json:",omitzero"`
	Epoch      uint64 `json:",omitzero"`
}

// A Sync is a coord.Op on an object, which is called by its number, in the order
// of making, from 1.
type Sync struct {
	Kind   coord.Kind
	Object int
	N      uint64
}
