package timeline

// LeastNoted is the size, in bytes, from which accesses to mapped memory are recorded: a
// shorter access takes less time than recording it.
const LeastNoted = 4 << 10

// Moment takes the place of a mark for an operation that took no time worth showing. Zero is a mark: it
// is when a simulation begins.
const Moment = -1

// Mark reads the clock, if there is a recorder.
func (r *Recorder) Mark() int64 {
	if r == nil {
		return 0
	}
	return r.Now()
}

// Note records an operation that was done without the node's lock, and that began at a mark or was a
// moment. The caller has checked that there is a recorder.
func (r *Recorder) Note(began int64, kind Kind, id uint64, peer, size int, err error) {
	now := r.Now()
	if began == Moment {
		began = now
	}
	e := Event{Begin: began, End: now, ID: id, Size: uint64(size), Peer: int32(peer), Kind: kind}
	if err != nil {
		e.Flags = Failed
	}
	r.Share(e)
}
