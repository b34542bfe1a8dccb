package weft

// CONTRACT FILE: signatures first, bodies follow in the files of their own.

import (
	"context"
	"time"
)

type Config struct {
	Transport string        // "auto" (default), "shm", "udp"
	Liveness  time.Duration // silence after which a peer counts as dead; default 3 s; negative: never
}

func Main(run func(ctx context.Context, p *Proc) error)    { panic("contract") }
func Join(ctx context.Context, cfg *Config) (*Proc, error) { panic("contract") }
func Local(ctx context.Context, n int, run func(ctx context.Context, p *Proc) error) error {
	panic("contract")
}

type Proc struct{}

func (p *Proc) Rank() int                                           { panic("contract") }
func (p *Proc) Size() int                                           { panic("contract") }
func (p *Proc) Host() string                                        { panic("contract") }
func (p *Proc) Peers() []Peer                                       { panic("contract") } // peers spoken to so far, by rank
func (p *Proc) Connect(ctx context.Context, rank int) (Peer, error) { panic("contract") } // reach rank now, and say how
func (p *Proc) Alloc(n int) ([]byte, error)                         { panic("contract") } // shared memory, for one-copy transfers
func (p *Proc) Free(b []byte) error                                 { panic("contract") }
func (p *Proc) Stats() Stats                                        { panic("contract") }
func (p *Proc) Close() error                                        { panic("contract") }

// Peer tells how a rank is reached.
type Peer struct {
	Rank      int
	Host      string
	Transport string // "self", "pipe", "shm", "udp"
	Why       string // the reason for that transport, one sentence
	MTU       int
}

type Stats struct {
	PacketsSent, PacketsReceived uint64
	BytesSent, BytesReceived     uint64
	Dropped                      uint64 // packets refused: malformed, foreign, replayed
	Retransmitted                uint64
	MemoryBytes                  uint64 // shared and private memory that the node holds
}

// Open opens the SEND/RECEIVE context on a logical channel (0..65535).
func (p *Proc) Open(ctx context.Context, channel int, cfg *PortConfig) (*Port, error) {
	panic("contract")
}

type PortConfig struct {
	RecvBuffer int  // bytes of messages held for this process until it receives them; default 1 MiB
	SendBuffer int  // bytes of messages held until their receivers have accepted them; default 1 MiB
	MaxMessage int  // longest message, sent or received; default 1 GiB
	Backoff    bool // resend after a back-off rather than on the receiver's request (GO)
}

type Port struct{}

func (q *Port) Send(ctx context.Context, to int, b []byte) error { panic("contract") }
func (q *Port) TrySend(to int, b []byte) error                   { panic("contract") } // ErrAgain if there is no room now
func (q *Port) Flush(ctx context.Context) error                  { panic("contract") } // all that was sent has been accepted
func (q *Port) Recv(ctx context.Context) (Message, error)        { panic("contract") }
func (q *Port) RecvFrom(ctx context.Context, rank int) (Message, error) {
	panic("contract")
}
func (q *Port) TryRecv() (Message, error) { panic("contract") } // ErrAgain if there is none
// RecvInto receives the next message (from anyone) into buf.
func (q *Port) RecvInto(ctx context.Context, buf []byte) (n, from int, err error) {
	panic("contract")
}
func (q *Port) RecvIntoFrom(ctx context.Context, rank int, buf []byte) (n int, err error) {
	panic("contract")
}
func (q *Port) Reserve(ctx context.Context, to, n int) (Draft, error) { panic("contract") }
func (q *Port) Close() error                                          { panic("contract") }

// Draft is a send buffer to fill in place.
type Draft struct {
	Data []byte
}

func (d *Draft) Commit() error { panic("contract") }
func (d *Draft) Discard()      { panic("contract") }

// Message is a received message on loan; Data is valid until Release.
type Message struct {
	From int
	Data []byte
}

func (m *Message) Release() { panic("contract") }

// Expose makes size bytes reachable by others under a name.
func (p *Proc) Expose(ctx context.Context, name string, size int, cfg *RegionConfig) (*Region, error) {
	panic("contract")
}

// Window exposes name on this rank, for use where every rank does the same; Region.At reaches the others'.
func (p *Proc) Window(ctx context.Context, name string, size int, cfg *RegionConfig) (*Region, error) {
	panic("contract")
}

// Attach reaches the region that rank exposes under name; it waits until there is one.
func (p *Proc) Attach(ctx context.Context, rank int, name string) (*Remote, error) {
	panic("contract")
}

type RegionConfig struct {
	ReadOnly bool // others may only PULL
}

type Region struct{}

func (r *Region) Bytes() []byte                                     { panic("contract") }
func (r *Region) Load(off int) uint64                               { panic("contract") } // atomic, acquire; off a multiple of 8
func (r *Region) Store(off int, v uint64)                           { panic("contract") } // atomic, release
func (r *Region) At(ctx context.Context, rank int) (*Remote, error) { panic("contract") }
func (r *Region) Close() error                                      { panic("contract") }

type Remote struct{}

func (r *Remote) Rank() int                                           { panic("contract") }
func (r *Remote) Size() int                                           { panic("contract") }
func (r *Remote) Push(ctx context.Context, off int, src []byte) error { panic("contract") } // returns when src may be reused and the data is in place
func (r *Remote) Pull(ctx context.Context, dst []byte, off int) error { panic("contract") }
func (r *Remote) Put(ctx context.Context, off int, b []byte) error    { panic("contract") } // at most 32 bytes; returns at once; Flush completes
func (r *Remote) FetchAdd(ctx context.Context, off int, delta uint64) (old uint64, err error) {
	panic("contract")
}
func (r *Remote) Swap(ctx context.Context, off int, v uint64) (old uint64, err error) {
	panic("contract")
}
func (r *Remote) CompareSwap(ctx context.Context, off int, old, new uint64) (seen uint64, err error) {
	panic("contract")
}
func (r *Remote) StartPush(ctx context.Context, off int, src []byte) (*Op, error) { panic("contract") }
func (r *Remote) StartPull(ctx context.Context, dst []byte, off int) (*Op, error) { panic("contract") }
func (r *Remote) StartFetchAdd(ctx context.Context, off int, delta uint64) (*Op, error) {
	panic("contract")
}
func (r *Remote) Flush(ctx context.Context) error { panic("contract") } // all that was started on r is complete

type Op struct{}

func (o *Op) Done() bool                     { panic("contract") }
func (o *Op) Wait(ctx context.Context) error { panic("contract") } // ends the Op; call it exactly once
func (o *Op) Value() uint64                  { panic("contract") } // an atomic's old value, once done
