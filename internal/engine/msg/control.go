package msg

import (
	"math"
	"time"
)

// A FlowControl is how a port learns that a receiver has no room, and when it sends again what was refused. All rest
// on modified ACK/NACK (PROTOCOL §3.1), so ports with different ones understand each other: the sender's decides what
// is sent and acknowledged, the receiver's whether it calls senders that it has refused. Package weft says what each
// of them is.
type FlowControl uint8

// The flow controls of package weft.
const (
	FlowRoom FlowControl = iota
	FlowAcks
	FlowNack
	FlowStop
)

// FlowControls has the name of each flow control.
var FlowControls = [...]string{FlowRoom: "room", FlowAcks: "acks", FlowNack: "nack", FlowStop: "stop"}

// String returns the name of the flow control.
func (f FlowControl) String() string { return FlowControls[f] }

// Back-off after a refusal without a promise to send GO.
const (
	minBackoff = 50 * time.Microsecond
	maxBackoff = 5 * time.Millisecond
)

// A rule is what a flow control decides.
type rule struct {
	every  uint32        // the sender asks for an acknowledgement with each message of so many
	assume int           // room in bytes that the sender takes for granted, whatever the receiver has stated
	most   time.Duration // the longest time until a refused message is sent again uncalled
	calls  bool          // the receiver calls a sender that it has refused when there is room
}

var rules = [...]rule{
	FlowRoom: {every: window / 4, most: maxBackoff, calls: true},
	FlowAcks: {every: 1, assume: math.MaxInt, most: maxBackoff},
	FlowNack: {every: window / 4, assume: math.MaxInt, most: minBackoff},
	FlowStop: {every: 1, assume: math.MaxInt, most: maxBackoff, calls: true},
}

// room returns the room in bytes that a sender reckons with where the receiver has stated so much.
func (r *rule) room(stated int) int { return max(stated, r.assume) }
