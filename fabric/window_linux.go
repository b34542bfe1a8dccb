package fabric

import (
	"context"
	"runtime"
	"sync"
	"time"

	"weft/fabric/internal/ofi"
	"weft/internal/handshake"
	"weft/internal/transport"
)

// A window is memory of a peer that this process reaches (transport.Window).
//
//	state   operations
//	open    are begun
//	closed  are not begun: the peer takes the memory back, and waits until those under way have ended
type window struct {
	t      *Transport
	p      *peer
	region uint32
	at     ofi.Window
	closed bool
	users  int // operations under way
}

// A windowKey names a window.
type windowKey struct {
	rank   int
	region uint32
}

// reaching is the windows of a rank, and its questions to peers.
type reaching struct {
	windows  map[windowKey]*window
	asked    map[uint32]*question
	question uint32 // the number of the last one
	accesses [accesses]access
	free     []int // of them
	memory   registry
}

// A question is whether a peer offers memory.
type question struct {
	answer  word
	answers bool // it has come
}

// accesses is how many remote accesses may be under way at once.
const accesses = 16

// An access is one remote access. Its slot is its context, and its buffer if it is short.
type access struct {
	b         []byte // what libfabric reads or writes, kept alive
	local     *entry // its registration, or nil
	done      bool
	err       error
	abandoned bool // the goroutine that began it does not wait any more
}

func (r *reaching) open() {
	r.windows = map[windowKey]*window{}
	r.asked = map[uint32]*question{}
	for i := range accesses {
		r.free = append(r.free, i)
	}
}

// Reach returns the memory that a peer offers, or nil.
func (t *Transport) Reach(ctx context.Context, rank int, region uint32, key uint64) transport.Window {
	p := t.peers.Get(rank)
	if p == nil {
		return nil
	}
	t.mu.Lock()
	if w := t.reach.windows[windowKey{rank, region}]; w != nil && !w.closed {
		t.mu.Unlock()
		return w
	}
	if p.state != ready || t.closed {
		t.mu.Unlock()
		return nil
	}
	t.reach.question++
	id := t.reach.question
	q := new(question)
	t.reach.asked[id] = q
	t.mu.Unlock()
	p.say(t, word{kind: asks, n: id, a: uint64(region), b: key})
	late, stop := t.late(ctx)
	defer stop()
	_ = t.until(late, func() bool { return q.answers || p.state == gone })
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.reach.asked, id)
	if !q.answers || q.answer.c == 0 {
		return nil
	}
	w := &window{t: t, p: p, region: region, at: ofi.Window{Of: p.to, At: q.answer.a, Key: q.answer.b}}
	t.reach.windows[windowKey{rank, region}] = w
	return w
}

// late returns a channel that is closed when ctx ends, or as much time has passed as a handshake may take.
func (t *Transport) late(ctx context.Context) (late <-chan struct{}, stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	end := handshake.After(t.within(), cancel)
	return ctx.Done(), func() {
		end()
		cancel()
	}
}

// heard takes a peer's answer to a question.
func (t *Transport) heard(w word) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if q := t.reach.asked[w.n]; q != nil {
		q.answer = w
		q.answers = true
	}
}

// closeWindow closes the window of a region that a peer takes back, and says so when no operation uses it any more.
func (t *Transport) closeWindow(p *peer, region uint32) {
	t.mu.Lock()
	key := windowKey{p.rank, region}
	w := t.reach.windows[key]
	delete(t.reach.windows, key)
	if w != nil {
		w.closed = true
	}
	t.mu.Unlock()
	if w != nil {
		_ = t.until(nil, func() bool { return w.users == 0 })
	}
	p.say(t, word{kind: let, n: region})
}

// Write writes b to the peer's memory.
func (w *window) Write(ctx context.Context, off int, b []byte) bool { return w.all(ctx, off, b, true) }

// Read reads the peer's memory into b.
func (w *window) Read(ctx context.Context, off int, b []byte) bool { return w.all(ctx, off, b, false) }

// piece is how much is written or read at a time: between two pieces ctx may end.
const piece = 8 << 20

// all carries out an operation, in pieces.
func (w *window) all(ctx context.Context, off int, b []byte, write bool) bool {
	t := w.t
	t.mu.Lock()
	ok := !w.closed && !t.closed && w.p.state == ready
	if ok {
		w.users++
	}
	t.mu.Unlock()
	if !ok {
		return false
	}
	for len(b) > 0 && ok && ctx.Err() == nil {
		n := min(len(b), piece)
		if n > mtu && t.end.Registers && !t.reach.memory.fits(n) {
			n = mtu
		}
		ok = w.one(ctx, uint64(off), b[:n:n], write)
		b = b[n:]
		off += n
	}
	t.mu.Lock()
	w.users--
	t.mu.Unlock()
	return ok && ctx.Err() == nil
}

// one carries out one piece.
func (w *window) one(ctx context.Context, off uint64, b []byte, write bool) bool {
	t := w.t
	i := -1
	began := func() bool {
		if i >= 0 || w.p.state != ready {
			return true
		}
		var err error
		i, err = t.begin(w, off, b, write)
		return err != ofi.ErrBusy
	}
	if !t.soon(began) {
		if t.until(ctx.Done(), began) != nil {
			return false
		}
	}
	if i < 0 {
		return false
	}
	a := &t.reach.accesses[i]
	over := func() bool { return a.done || w.p.state == gone }
	if !t.soon(over) && t.until(ctx.Done(), over) != nil {
		t.outlast(w.p, over)
	}
	return t.finish(i, b, write)
}

// soon looks for a condition for a millisecond, and makes the provider go on meanwhile.
func (t *Transport) soon(cond func() bool) bool {
	for began := time.Now(); time.Since(began) < time.Millisecond; {
		t.mu.Lock()
		if t.freed {
			t.mu.Unlock()
			return false
		}
		if cond() {
			t.mu.Unlock()
			return true
		}
		before := t.in.arrived.n
		t.harvest(looks)
		t.duty.looked()
		ring := t.in.arrived.n > before
		t.mu.Unlock()
		if ring {
			t.cfg.Bell.Ring()
		}
		runtime.Gosched()
	}
	return false
}

// outlast waits until an access that was given up has ended, since libfabric has its buffer. If the access does not end
// within the time of a handshake, the peer counts as gone.
func (t *Transport) outlast(p *peer, over func() bool) {
	late := make(chan struct{})
	defer handshake.After(t.within(), sync.OnceFunc(func() { close(late) }))()
	if t.until(late, over) != nil {
		t.mu.Lock()
		t.lose(p, errStuck)
		t.mu.Unlock()
	}
}

// begin gives an access to libfabric. The lock is held.
func (t *Transport) begin(w *window, off uint64, b []byte, write bool) (int, error) {
	r := &t.reach
	if len(r.free) == 0 {
		return -1, ofi.ErrBusy
	}
	i := r.free[len(r.free)-1]
	a := &r.accesses[i]
	slot := t.sending.brief + 1 + i
	*a = access{b: b}
	var local *ofi.Registration
	switch {
	case len(b) <= mtu:
		a.b = t.slots.message(slot, len(b))
		local = t.slots.registered
		if write {
			copy(a.b, b)
		}
	case t.end.Registers:
		e, err := r.memory.get(t.end, b)
		if err != nil {
			return -1, err
		}
		a.local = e
		local = e.registered
	}
	var err error
	if write {
		err = t.end.Write(w.at, off, a.b, local, t.slots.context(slot))
	} else {
		err = t.end.Read(w.at, off, a.b, local, t.slots.context(slot))
	}
	if err != nil {
		r.memory.put(a.local)
		*a = access{}
		return -1, err
	}
	r.free = r.free[:len(r.free)-1]
	return i, nil
}

// finish takes the result of an access, and reports whether it was carried out.
func (t *Transport) finish(i int, b []byte, write bool) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	a := &t.reach.accesses[i]
	if !a.done {
		a.abandoned = true
		return false
	}
	ok := a.err == nil
	if ok && !write && len(b) <= mtu {
		copy(b, a.b)
	}
	t.freeAccess(i)
	return ok
}

func (t *Transport) freeAccess(i int) {
	a := &t.reach.accesses[i]
	t.reach.memory.put(a.local)
	*a = access{}
	t.reach.free = append(t.reach.free, i)
}

// accessed takes note that an access has ended. The lock is held.
func (t *Transport) accessed(i int, err error) {
	a := &t.reach.accesses[i]
	a.done = true
	a.err = err
	if a.abandoned {
		t.freeAccess(i)
	}
}

var _ transport.Reacher = (*Transport)(nil)

// shortly is how long an owner waits until its peers have let go of memory.
const shortly = time.Second
