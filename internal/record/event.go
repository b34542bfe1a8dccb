package record

import (
	"weft/internal/engine/coord"
	"weft/internal/engine/link"
	"weft/internal/engine/msg"
	"weft/internal/mailbox"
	"weft/internal/monotime"
)

// An Event is one call of an engine, or something that it found out while it
// ran: whether a lane took a packet.
type Event struct {
	Do   string
	Now  monotime.Time `json:",omitzero"`
	Rank int           `json:",omitzero"` // the peer
	N    int           `json:",omitzero"` // what a call returned, or the size of something
	M    int           `json:",omitzero"` // of N packets, how many were taken
	OK   bool          `json:",omitzero"`

	Port   int    `json:",omitzero"` // a port, in the order of opening, from 1
	Op     int    `json:",omitzero"` // an operation, in the order of starting, from 1
	Block  int    `json:",omitzero"` // a message on loan or a draft, from 1
	Region uint32 `json:",omitzero"`

	Incarnation uint64     `json:",omitzero"` // of the peer
	Guard       link.Guard `json:",omitzero"` // of the packets to and from it

	Ranks []int `json:",omitempty"` // that are told something

	Name   string      `json:",omitzero"`
	Bytes  []byte      `json:",omitzero"` // a packet
	Hash   uint64      `json:",omitzero"` // of the engine's state
	Random uint64      `json:",omitzero"`
	Engine *Config     `json:",omitzero"`
	Open   *msg.Config `json:",omitzero"`
	Msg    *Message    `json:",omitzero"`
	RMA    *Access     `json:",omitzero"`

	Box    *mailbox.Geometry `json:",omitzero"`
	Object *coord.Config     `json:",omitzero"`
	Sync   *Sync             `json:",omitzero"`
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
