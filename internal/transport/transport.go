package transport

import (
	"errors"
	"time"

	"weft/internal/counters"
)

// Caps says what a transport can do. The layers above choose by these values,
// never by the transport's type.
type Caps struct {
	// Name is the word that users know it by: "pipe", "shm", "eth", "udp", "tcp".
	Name string

	// MTU is the largest packet, header and payload together, that Send
	// takes, in bytes.
	MTU int

	// Reliable promises that a packet that Send accepted arrives once, whole,
	// unchanged and in the order of the sends to that peer, unless a process
	// dies. Without it packets may be lost, repeated, reordered and damaged,
	// and may come from strangers.
	Reliable bool

	// Devices is the number of devices over which packets are spread, so that some overtake
	// others; 0 means 1. It matters without Reliable.
	Devices int

	// Guards lists what strangers and accidents cannot do to packets on their way, for
	// users to read. Without Reliable it is empty: the link guards packets.
	// (docs/SECURITY.md)
	Guards string

	// Beats says that the transport notices when a peer's process has ended, but not when
	// it is stopped, so the nodes exchange signs of life (BEAT). It matters with Reliable.
	Beats bool

	// Direct promises that Memory can map a peer's memory, so that the
	// initiator completes remote memory operations by itself.
	Direct bool
}

// Out is one packet to send: Header, then Payload. Both are borrowed until
// the Send that was given them returns.
type Out struct {
	Peer    int
	Header  []byte
	Payload []byte

	// Bulk packets keep their order among themselves; others to the same peer may arrive
	// before them, or after. A transport with Reliable may send them by a connection of
	// their own, and have room for others when it has none for them.
	Bulk bool

	// Urgent packets need the peer's processor soon, so they wake it even
	// when none of its goroutines waits for anything.
	Urgent bool

	// Again is how often the packet has been sent before: it was not acknowledged.
	// It matters without Reliable: such a transport learns from it which of its paths, or
	// batches, fail.
	Again int
}

// In is one packet received. Data is borrowed until the next Release.
type In struct {
	// From is the rank of the sender as far as the transport knows it; a
	// transport without Reliable reports -1, and the packet itself says.
	From int
	Data []byte
}

// A Transport moves packets between this process and its peers.
//
// One goroutine at a time may call Send, Push of a Lane, Poll, Release, Forget, Resized, Path and
// Counts; the driver holds its lock around them. All other methods may be called by any
// goroutine.
type Transport interface {
	Caps() Caps

	// Card is what peers need in order to Dial this process: text without line
	// breaks, published through the job's bootstrap.
	Card() string

	// Dial prepares to reach a peer by its card. It may block while it exchanges
	// handshakes with the peer. When it returns nil, Send to the peer works.
	//
	// A peer may also dial first: the transport then reports it by Events.Up.
	Dial(peer int, card string) error

	// PeerMTU returns the largest packet for a connected peer, at most Caps.MTU. It may
	// change: see Resized. Packets that are longer may still be sent, up to what it was
	// when the peer was dialled.
	PeerMTU(peer int) int

	// Resized returns the peers whose PeerMTU has changed since the last call, nearly
	// always none. It is called like Send. The list is good until the next call.
	Resized() []int

	// Path says what packets to a connected peer take, for users to read; "" where
	// there is nothing to tell. It is called like Send.
	Path(peer int) string

	// Counts returns what the transport has counted so far. It is called like Send.
	Counts() counters.Local

	// Lane returns what single packets to a connected peer are best pushed to, or nil if
	// packets should be gathered for Send. Any goroutine may call it.
	Lane(peer int) Lane

	// Send takes packets in order and returns how many it took. When it
	// returns n < len(pkts), there is no room for pkts[n] now; nothing of it
	// has been sent, and later packets to other peers may be tried.
	// It rings the doorbells of the peers that must wake up.
	Send(pkts []Out) int

	// Pending reports, without a system call, whether Poll would return a
	// packet. A transport that cannot tell without one reports true.
	Pending() bool

	// Poll fills dst with packets that have arrived and returns how many. The
	// previous batch must have been released. If it has lent some kilobytes, more may have
	// arrived than it has returned: Pending tells.
	Poll(dst []In) int

	// Release ends the loan of all packets of the last Poll. It may clear what that has filled.
	Release()

	// Arm makes the next arrival ring this process's doorbell, once. A
	// transport whose peers ring the doorbell themselves does nothing. If a
	// packet is already waiting, Arm rings at once.
	Arm()

	// Forget says that a peer counts as gone. Nothing more from it is wanted. If it is
	// still alive, its transport reports Down to it, as far as the transport can make it.
	// Forget is called like Send.
	Forget(peer int)

	// Memory gives access to the memory of peers, or is nil without Direct.
	Memory() Memory

	// MemoryBytes returns how much memory the transport holds.
	MemoryBytes() uint64

	// Close gives everything back. Peers see the connection end.
	Close() error
}

// A Lane takes single packets to one peer.
type Lane interface {
	// Push sends one packet, or reports that there is no room for it now. It
	// rings the peer's doorbell if it must wake up.
	Push(header, payload []byte, urgent bool) bool
}

// A Peeker is a Transport whose packets can be looked at and taken one by one, where a goroutine waits for the next one
// and need not hand it to the engine. Its methods are called like Poll, and not between Poll and Release.
type Peeker interface {
	// Peek lends the first packet that has arrived from a peer, or from any if peer is below zero, with its sender.
	// The packet stays the first one unless Took follows. Without a packet, maybe says that Poll could return some.
	// Peers have their turns: packets of one do not keep those of others from being seen.
	Peek(peer int) (from int, pkt []byte, maybe bool)

	// Took takes the packet that Peek has lent, whose loan ends.
	Took()
}

// Memory is access to a peer's memory without the peer's help. Its methods
// may be called by any goroutine.
//
// Memory can be mapped only by peers that know the key which its owner has named (Admit), or
// that its owner has named themselves (Grant). The owner checks that before it passes the
// memory on.
type Memory interface {
	// Share returns new zeroed memory of n bytes (rounded up to pages), and the
	// number by which peers ask for it. Numbers are never used again. Of readOnly
	// memory peers get nothing that they could write to. It fails with ErrNoMemory
	// if so many pieces are shared already that one more would endanger the process.
	Share(n int, readOnly bool) (id uint32, m *Mapping, err error)

	// Admit lets peers that know the key map the memory. The key is not 0.
	Admit(id uint32, key uint64)

	// Grant lets one peer map the memory, for reading only.
	Grant(id uint32, peer int)

	// Unshare takes memory back: it is retired here, and soon at all peers that
	// have it mapped. Its bytes belong to the system again when the last has let
	// go of it.
	Unshare(id uint32) error

	// Map makes the memory that peer shares under id visible here, or returns the
	// mapping that is there already. Key is what the peer admits by, or 0 if it has
	// granted the memory to us. Without readOnly it fails if what the peer gives
	// cannot be written to. It may block for a short time.
	Map(peer int, id uint32, key uint64, readOnly bool) (*Mapping, error)

	// Mapped returns how many bytes of peers are mapped here.
	Mapped() uint64

	// Read copies len(dst) bytes from address addr of peer's ordinary memory.
	// It returns ErrNoAccess, having copied nothing that matters, where the
	// kernel does not allow it.
	Read(peer int, addr uint64, dst []byte) error

	// Attend shows peers whether this process polls for packets. It is called like Send.
	Attend(polls bool)

	// Attends reports whether peer polls for packets at this moment, as far as can be seen: then
	// it would send the bytes at once, which is faster than Read. It is called like Send.
	Attends(peer int) bool
}

// ErrNoAccess reports that the kernel does not let this process read a peer's
// memory; the data must travel in packets instead.
var ErrNoAccess = errors.New("weft: the kernel does not allow reading the peer's memory")

// ErrNoMemory reports that no more memory can be shared; ordinary memory can still be
// had.
var ErrNoMemory = errors.New("weft: no more memory can be shared")

// ErrUnknownPeer reports an operation on a peer that was never dialled.
var ErrUnknownPeer = errors.New("weft: peer is not connected")

// Events is what a transport tells its driver, from goroutines of its own.
// No call is made while the transport holds a lock that its methods take.
type Events struct {
	// Up: peer has dialled us, and Send to it works.
	Up func(peer int)

	// Down: peer's process is gone, with the reason. Packets that it sent
	// before it died can still be polled.
	Down func(peer int, cause error)
}

// A Doorbell is the one place where a node sleeps. Its state tells a sender that
// has a packet for the node whether to ring.
//
//	state   set by                                   a sender rings for
//	Awake   the goroutine that polls, and every ring no packet
//	Idle    the service before it sleeps             urgent packets
//	Asleep  a goroutine that waits, before it sleeps every packet
//
// The protocol is Dekker's: a sleeper publishes its state and then looks for
// packets once more; a sender publishes its packet and then looks at the
// state. Both sides order the two with a full fence, so no ring is lost.
type Doorbell interface {
	// Set publishes the state.
	Set(s State)

	// State returns the current state.
	State() State

	// Sleep blocks the caller until a ring, if the state is still s, or until d has
	// passed. A ring sets the state to Awake. A d below zero means no limit. Sleep may
	// return early.
	Sleep(s State, d time.Duration)

	// Ring wakes the sleeper, whatever the state, and sets it to Awake.
	Ring()

	// Wake is called by a sender after it has published a packet: it rings if the state
	// asks for it.
	Wake(urgent bool)
}

// State is the state of a node's doorbell.
type State uint32

const (
	// Awake means that a goroutine polls, or will soon. Senders need not ring.
	Awake State = iota
	// Idle means that no goroutine waits. Senders ring for urgent packets only.
	Idle
	// Asleep means that a goroutine waits. Senders ring for every packet.
	Asleep
)

// String returns the state's name in lower case.
func (s State) String() string {
	return [...]string{"awake", "idle", "asleep"}[min(s, 2)]
}
