package wire

// The events of central locks, read-write locks and semaphores (PROTOCOL §9.3). A
// serial numbers the requests of one rank for one object.

// PermitRequest asks the home for permits: permit_req, or permit_try with Try.
type PermitRequest struct {
	ID        uint64
	Serial    uint32
	Permits   uint32
	Signature uint64
	Try       bool // only if they can be given at once
}

// Event returns the event that carries the request.
func (v PermitRequest) Event() Event {
	kind := EventPermitReq
	if v.Try {
		kind = EventPermitTry
	}
	return Event{Kind: kind, ID: v.ID, Rank: v.Permits, Phase: uint64(v.Serial), Arg: v.Signature}
}

// ParsePermitRequest reads a permit_req or permit_try.
func ParsePermitRequest(e Event) PermitRequest {
	return PermitRequest{
		ID: e.ID, Serial: uint32(e.Phase), Permits: e.Rank, Signature: e.Arg, Try: e.Kind == EventPermitTry,
	}
}

// PermitRelease gives permits back to the home.
type PermitRelease struct {
	ID        uint64
	Permits   uint32
	Signature uint64
}

// Event returns the event that carries the permits.
func (v PermitRelease) Event() Event {
	return Event{Kind: EventPermitRel, ID: v.ID, Rank: v.Permits, Arg: v.Signature}
}

// ParsePermitRelease reads a permit_rel.
func ParsePermitRelease(e Event) PermitRelease {
	return PermitRelease{ID: e.ID, Permits: e.Rank, Signature: e.Arg}
}

// PermitCancel takes a request back, unless the home has answered it already.
type PermitCancel struct {
	ID        uint64
	Serial    uint32
	Signature uint64
}

// Event returns the event that takes the request back.
func (v PermitCancel) Event() Event {
	return Event{Kind: EventPermitCancel, ID: v.ID, Phase: uint64(v.Serial), Arg: v.Signature}
}

// ParsePermitCancel reads a permit_cancel.
func ParsePermitCancel(e Event) PermitCancel {
	return PermitCancel{ID: e.ID, Serial: uint32(e.Phase), Signature: e.Arg}
}

// PermitReply answers a request: permit_grant with Granted, else permit_deny.
type PermitReply struct {
	ID         uint64
	Serial     uint32
	Epoch      uint64
	HolderDied bool // a writer has died, and no other has been granted the lock since
	Granted    bool
}

// Event returns the event that carries the answer.
func (v PermitReply) Event() Event {
	kind := EventPermitDeny
	if v.Granted {
		kind = EventPermitGrant
	}
	return Event{Kind: kind, Flag: v.HolderDied, ID: v.ID, Phase: uint64(v.Serial), Aux: v.Epoch}
}

// ParsePermitReply reads a permit_grant or permit_deny.
func ParsePermitReply(e Event) PermitReply {
	return PermitReply{
		ID: e.ID, Serial: uint32(e.Phase), Epoch: e.Aux, HolderDied: e.Flag, Granted: e.Kind == EventPermitGrant,
	}
}
