package wire

// The events of regions that a lock guards (PROTOCOL §9.6).

// Bind tells the home of a lock that the sender has a region that the lock guards.
type Bind struct{ Lock uint64 }

// Event returns the event that carries the request.
func (v Bind) Event() Event { return Event{Kind: EventBind, ID: v.Lock} }

// Bound answers a Bind.
type Bound struct {
	Lock  uint64
	Epoch uint64 // regions are closed to older ones
}

// Event returns the event that carries the answer.
func (v Bound) Event() Event { return Event{Kind: EventBound, ID: v.Lock, Aux: v.Epoch} }

// ParseBound reads a bound.
func ParseBound(e Event) Bound { return Bound{Lock: e.ID, Epoch: e.Aux} }

// FenceEpoch closes the receiver's regions to epochs of a lock before Epoch.
type FenceEpoch struct {
	Lock  uint64
	Epoch uint64
}

// Event returns the event that carries the order.
func (v FenceEpoch) Event() Event { return Event{Kind: EventFence, ID: v.Lock, Aux: v.Epoch} }

// ParseFenceEpoch reads a fence.
func ParseFenceEpoch(e Event) FenceEpoch { return FenceEpoch{Lock: e.ID, Epoch: e.Aux} }

// Fenced answers FenceEpoch: the regions are closed.
type Fenced struct {
	Lock  uint64
	Epoch uint64
}

// Event returns the event that carries the answer.
func (v Fenced) Event() Event { return Event{Kind: EventFenced, ID: v.Lock, Aux: v.Epoch} }

// ParseFenced reads a fenced.
func ParseFenced(e Event) Fenced { return Fenced{Lock: e.ID, Epoch: e.Aux} }
