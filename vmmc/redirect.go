package vmmc

import (
	"context"
	"fmt"
	"slices"

	"weft"
	"weft/extend"
	"weft/failure"
)

// A Landing is the result of a redirected transfer.
type Landing struct {
	From   int // the sender
	Len    int // bytes that have arrived: all of the transfer, unless there is an error
	Direct int // of these, bytes that went straight to the redirection's buffer; the others went to the export first
}

// A Redirection is a buffer for a transfer. One goroutine may use it, until Wait has returned a
// Landing or Cancel has returned true; after that it must not be used.
type Redirection struct {
	x    *Export
	from int // or weft.Any
	off  int
	buf  []byte

	// The endpoint's lock guards what follows.
	taken bool // a transfer has been found for it
	over  bool
	land  Landing
	err   error
	ended *extend.Signal
}

// Redirect has the next transfer from a rank, or from any rank with weft.Any, that begins at offset
// off written to buf. It never waits. Transfers that begin at the same offset are taken in the
// order in which they came, by redirections in the order in which they were made. What has already
// arrived of a transfer is copied to buf; the rest goes there straight. Bytes of the transfer
// beyond the end of buf stay in the export; with an empty buf all of them do, and the redirection
// only reports the transfer. A transfer that has been overwritten by another one cannot be taken
// any more.
//
// buf belongs to vmmc until Wait has returned a Landing, or Cancel has returned true.
func (x *Export) Redirect(from, off int, buf []byte) (*Redirection, error) {
	if from != weft.Any && (from < 0 || from >= x.e.p.Size()) {
		return nil, &weft.RankError{Rank: from, Size: x.e.p.Size()}
	}
	if err := failure.CheckRange(off, len(buf), x.Size()); err != nil {
		return nil, err
	}
	if x.matcher == nil {
		return nil, &weft.ConfigError{Field: "ExportConfig.Redirections of an export to be redirected", Value: 0, Min: 1,
			Max: maxRedirections}
	}
	x.e.mu.Lock()
	defer x.e.mu.Unlock()
	if x.ended != nil {
		return nil, x.ended
	}
	if from != weft.Any {
		if gone := x.e.peers[from].gone; gone != nil && !x.matcher.has(from, off) {
			return nil, gone
		}
	}
	r := x.matcher.fresh(x)
	*r = Redirection{x: x, from: from, off: off, buf: buf, ended: r.ended}
	x.matcher.redirect(r)
	return r, nil
}

// Wait returns when the transfer is in place. If the sender dies or gives up half-way the error
// says so, and the Landing tells what has arrived. If ctx ends first the redirection remains: the
// program may call Wait again, or Cancel.
func (r *Redirection) Wait(ctx context.Context) (Landing, error) {
	for {
		r.x.e.mu.Lock()
		over := r.over
		land := r.land
		err := r.err
		r.x.e.mu.Unlock()
		if over {
			r.free()
			return land, err
		}
		if err := r.ended.Wait(ctx); err != nil {
			doing := fmt.Sprintf("vmmc: redirection at %d of export %q", r.off, r.x.name)
			return Landing{}, failure.Waited(err, doing, "")
		}
	}
}

// Done reports whether Wait would return at once.
func (r *Redirection) Done() bool {
	r.x.e.mu.Lock()
	defer r.x.e.mu.Unlock()
	return r.over
}

// Cancel withdraws the redirection, and reports whether it did: it cannot when a transfer has been
// matched with it.
func (r *Redirection) Cancel() bool {
	r.x.e.mu.Lock()
	defer r.x.e.mu.Unlock()
	if r.taken || r.over {
		return false
	}
	l := r.x.matcher
	l.waiting = slices.DeleteFunc(l.waiting, func(o *Redirection) bool { return o == r })
	l.idle = append(l.idle, r)
	return true
}

// free lets a later Redirect use the memory.
func (r *Redirection) free() {
	r.x.e.mu.Lock()
	defer r.x.e.mu.Unlock()
	r.ended.Reset()
	r.x.matcher.idle = append(r.x.matcher.idle, r)
}

// finish ends the redirection. The lock is held.
func (r *Redirection) finish(land Landing, err error) {
	if !r.over {
		r.over = true
		r.land = land
		r.err = err
		r.buf = nil
		r.ended.Set()
	}
}

// An arrival is a transfer to an export that can be redirected, at the owner.
type arrival struct {
	x      *Export
	from   int
	off, n int
	got    int  // bytes that have come
	direct int  // of these, straight
	whole  bool // all have come
	to     *Redirection
}

// place returns the memory for the next n bytes, and whether that is the buffer of the redirection.
// The lock is held.
func (a *arrival) place(n int) (dst []byte, straight bool) {
	if a.to != nil && a.got+n <= len(a.to.buf) {
		return a.to.buf[a.got : a.got+n], true
	}
	return a.x.Bytes()[a.off+a.got:][:n:n], false
}

// landed counts bytes that have arrived. It copies them to the redirection's buffer if that was not
// their place: the transfer was redirected after place was called, or the bytes lie across the
// buffer's end. The lock is held.
func (a *arrival) landed(b []byte, straight bool) {
	switch {
	case straight:
		a.direct += len(b)
	case a.to != nil && a.got < len(a.to.buf):
		copy(a.to.buf[a.got:], b)
	}
	a.got += len(b)
}

// taken gives the arrival to a redirection, and copies what has arrived. The lock is held.
func (a *arrival) taken(r *Redirection) {
	a.to = r
	r.taken = true
	copy(r.buf, a.x.Bytes()[a.off:a.off+a.got])
	if a.whole {
		a.finish(nil)
	}
}

func (a *arrival) finish(err error) {
	a.to.finish(Landing{From: a.from, Len: a.got, Direct: a.direct}, err)
}
