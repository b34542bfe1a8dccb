package link

import (
	"time"

	"weft/internal/monotime"
)

// protection guards the packets of a link in both directions (PROTOCOL §2.2).
//
// The counter only grows: each packet has one of its own, also a packet that repeats another.
// The receiver takes each counter once, and none that is older than its replay window.
type protection struct {
	incarnation uint64 // the peer's
	guard       Guard  // of what we send, and the weakest that we take
	out, in     signer
	counter     uint64 // of the packet sent last
	replay      replayWindow
	greets      bool // the peer is to know this process's share: see agree.go
}

// sending is the sender's half of a link (PROTOCOL §2.3). In serial arithmetic
//
//	base <= next <= high <= tail
//
//	base … high   transmitted at least once, not acknowledged; a slot each
//	next … high   to be transmitted again, in order (go-back-N)
//	high … tail   numbered, never transmitted
//
// What moves them:
//
//	Queue              tail+1
//	packet sent        next+1; high follows if next passes it
//	acknowledgement e  base = e; next follows if base passes it
//	LOSE, timeout, GO  next = base
//	SELECT             slots that the peer misses are marked, and sent out of turn
type sending struct {
	mode      sendMode
	heard     bool // while asking: something has been acknowledged since
	probe     bool // transmit packet base although the mode is not flowing
	last      bool // transmit the last packet once more: nothing has been heard of it
	more      bool // frames wait that have no number yet
	paced     bool // a packet waits for its time
	selective bool // the peer knows SELECT (PROTOCOL §2.5)
	base      uint32
	next      uint32
	high      uint32
	tail      uint32
	slots     []slot // a ring indexed by number, as long as a power of two
	flying    int    // slots on their way

	mixed monotime.Time // until then little is on its way of long frames: short ones go ahead of them

	missing int // slots that the peer misses, to be transmitted out of turn
	unasked int // packets transmitted, and not acknowledged, since one asked to be acknowledged at once
}

// A sendMode says whether data packets may leave.
//
//	from      event                                     to
//	flowing   STOP of packet base                       stopped
//	flowing   timeout, with selective repeat            asking
//	asking    STOP of packet base                       stopped
//	asking    answer to PROBE, after an acknowledgement flowing, from base on
//	asking    everything transmitted is acknowledged    flowing
//	stopped   a new acknowledgement, or GO              flowing, from base on
//	asking    GO                                        flowing, from base on
//
// In stopped and asking a timeout sends packet base alone, to find out how things are; in
// asking a PROBE follows it. In flowing a timeout without selective repeat starts again
// from base.
type sendMode uint8

const (
	flowing sendMode = iota // data packets leave as far as the window allows
	stopped                 // the peer has no room, and will say GO
	asking                  // nothing came for too long: what has arrived is asked first
)

// rtoState is the retransmission timer and the round trip that sets it (PROTOCOL §2.4;
// Jacobson and Karels).
//
//	event                                          timer
//	a packet leaves, and the timer is not running  starts
//	a new acknowledgement                          starts anew if packets are on their way, else stops; backoff = 0
//	a few round trips without news                 goes on, and the last packet is sent again
//	timeout                                        starts anew, twice as long, up to Config.RTOMax
type rtoState struct {
	at      monotime.Time // when it runs out; Never: it is not running
	end     monotime.Time // before that it runs out earlier, for the last packet: see tail.go
	tails   int           // last packets repeated since a round trip was measured
	value   time.Duration
	backoff int           // doublings of value since an acknowledgement was new
	srtt    time.Duration // 0 until measured
	rttvar  time.Duration
}

// receiving is the receiver's half of a link (PROTOCOL §2.3, §2.5).
//
//	a data packet                  what happens
//	before expected                acknowledged at once
//	expected, room                 accepted: expected+1, acknowledged after AckDelay or a quarter of the window
//	expected, no room              STOP; stopped until RoomAgain, which sends GO
//	after expected                 LOSE once for each gap; with selective repeat it is kept, and SELECT tells
//	after expected, while stopped  dropped
type receiving struct {
	expected   uint32        // number of the next packet
	gapTold    bool          // the sender knows of the gap before what came, or that it must wait
	stopped    bool          // the sender has been told to stop
	overtake   uint32        // packets that may come before one that is on its way: see Spread
	gapAt      monotime.Time // a gap that lasts until then is told, however few have come; Never: none is
	unacked    int           // packets accepted and not acknowledged
	ackAt      monotime.Time
	came       monotime.Time // since when packet expected-1 may have been here
	kept       kept
	assemblies []assembly // of packets that come in parts; nil until the first
}

// liveness watches the peer (PROTOCOL §2.4).
//
//	event                                                     what happens
//	a packet of the peer                                      the watch starts anew
//	a quarter of Config.Liveness without one                  PROBE; the link gives memory back if it is not busy
//	each sixteenth of it after that                           PROBE again
//	sixteen sixteenths                                        the peer is dead
type liveness struct {
	busy  bool // a frame has been sent or has come since a sign of life was asked for
	pulse Pulse
}
