package vmmc

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"weft"
)

// ExportConfig shapes an export. Zero values mean the defaults.
type ExportConfig struct {
	// Ranks may import it; nil means all, and an empty slice none.
	Ranks []int

	// Notify is called for each send that asks for it, when its data is in place, one call at a time for all exports
	// of the endpoint. The context ends when the endpoint is closed. If it panics its export is revoked, and Close
	// returns a HandlerError.
	Notify func(ctx context.Context, n Notification)

	// Redirections lets transfers be redirected: so many, at most, lie in the export without having been taken by a
	// Redirection; more wait at their senders. Every transfer is then to be taken by one. 0 means that the export
	// cannot be redirected, and needs no help of the endpoint.
	Redirections int
}

// maxRedirections bounds ExportConfig.Redirections.
const maxRedirections = 1 << 16

// An Export is memory of this rank to which others send.
type Export struct {
	e      *Endpoint
	id     uint32
	name   string
	region *weft.Region
	ranks  []int // that may import it, in ascending order, or nil
	notify func(ctx context.Context, n Notification)

	// The endpoint's lock guards what follows.
	imports map[int]int // by rank
	ended   error       // it is no export any more
	users   int         // the export itself, and servers that write to it: the last closes the region
	matcher *matcher    // of an export that can be redirected
}

// Export makes size bytes of zeroed memory, which the ranks that it permits can import by a name of 1 to 200 bytes. A
// name that is exported already is weft.ErrInUse.
func (e *Endpoint) Export(ctx context.Context, name string, size int, cfg *ExportConfig) (*Export, error) {
	var c ExportConfig
	if cfg != nil {
		c = *cfg
	}
	if err := checkName(name); err != nil {
		return nil, err
	}
	if c.Redirections < 0 || c.Redirections > maxRedirections {
		return nil, &weft.ConfigError{Field: "ExportConfig.Redirections", Value: c.Redirections, Min: 0, Max: maxRedirections}
	}
	e.mu.Lock()
	e.serial++
	x := &Export{e: e, id: e.serial, name: name, ranks: slices.Clone(c.Ranks), notify: c.Notify, imports: map[int]int{}, users: 1}
	e.mu.Unlock()
	slices.Sort(x.ranks)
	access := x.ranks
	if c.Redirections > 0 {
		x.matcher = &matcher{most: c.Redirections}
		access = []int{} // its endpoint alone writes to it
	}
	var err error
	if x.region, err = e.p.OpenRegion(ctx, e.regionName(x.id), size, &weft.RegionConfig{Ranks: access}); err != nil {
		return nil, err
	}
	e.mu.Lock()
	switch {
	case e.closed:
		err = weft.ErrClosed
	case e.names[name] != nil:
		err = fmt.Errorf("vmmc: %q is exported already: %w", name, weft.ErrInUse)
	}
	if err != nil {
		e.mu.Unlock()
		return nil, errors.Join(err, x.region.Close())
	}
	e.exports[x.id], e.names[name] = x, x
	waiting := e.pending[name]
	delete(e.pending, name)
	replies := make([]frame, len(waiting))
	for i, w := range waiting {
		replies[i] = x.admit(w.rank, w.op)
	}
	e.mu.Unlock()
	for i, w := range waiting {
		_ = e.post(w.rank, &replies[i]) // or the rank is gone
	}
	return x, nil
}

func checkName(name string) error {
	if len(name) < 1 || len(name) > maxName {
		return &weft.ConfigError{Field: "length of the export's name", Value: len(name), Min: 1, Max: maxName}
	}
	return nil
}

func (e *Endpoint) regionName(id uint32) string { return fmt.Sprintf("vmmc/%d/%d", e.channel, id) }

// Name returns the name, and Size the size in bytes.
func (x *Export) Name() string { return x.name }

// Size returns the size in bytes.
func (x *Export) Size() int { return len(x.region.Bytes()) }

// Bytes returns the memory. It is good until Unexport, Revoke or Close. Others write to it whenever they like: a program
// looks at it when a word that came behind has told it to (Await), or a notification.
func (x *Export) Bytes() []byte { return x.region.Bytes() }

// Load reads the word at off atomically. It panics unless off is a multiple of 8 inside the export.
func (x *Export) Load(off int) uint64 { return x.region.Load(off) }

// Await returns the word at off as soon as it is not old any more: how a program waits for the word that a sender sends
// last. It polls as weft.Region.Await does, and ends with the same errors.
func (x *Export) Await(ctx context.Context, off int, old uint64) (uint64, error) {
	return x.region.Await(ctx, off, old)
}

// permits reports whether a rank may import the export.
func (x *Export) permits(rank int) bool {
	if x.ranks == nil || rank == x.e.p.Rank() {
		return true
	}
	_, ok := slices.BinarySearch(x.ranks, rank)
	return ok
}

// A pendingImport is an import of a name that is not exported yet.
type pendingImport struct {
	rank int
	op   uint64
}

// wanted answers an import, now or when the name is exported.
func (e *Endpoint) wanted(l *server, f frame) {
	e.mu.Lock()
	x := e.names[string(f.name)]
	if x == nil {
		ws := e.pending[string(f.name)]
		if e.pendingOf(l.peer.rank) < maxRequests {
			e.pending[string(f.name)] = append(ws, pendingImport{l.peer.rank, f.op})
			e.mu.Unlock()
			return
		}
		e.mu.Unlock()
		l.answer(&f, gone)
		return
	}
	r := x.admit(l.peer.rank, f.op)
	e.mu.Unlock()
	l.send(&r)
}

// pendingOf returns how many imports of a rank wait. The lock is held.
func (e *Endpoint) pendingOf(rank int) (n int) {
	for _, ws := range e.pending {
		for _, w := range ws {
			if w.rank == rank {
				n++
			}
		}
	}
	return n
}

// admit answers an import. The lock is held.
func (x *Export) admit(rank int, op uint64) frame {
	if !x.permits(rank) || x.e.peers[rank].gone != nil {
		return frame{kind: imported, status: refused, op: op}
	}
	x.imports[rank]++
	f := frame{kind: imported, op: op, export: x.id, n: uint64(x.Size())}
	if x.matcher != nil {
		f.off = 1
	}
	return f
}

// target returns the export that a rank sends to, if it may: it checks what the sender should have. Unless there is an
// error, it is in use from now on. The lock is held.
func (e *Endpoint) target(rank int, f *frame) (*Export, status) {
	x := e.exports[f.export]
	switch {
	case x == nil:
		return nil, gone
	case !x.permits(rank):
		return nil, refused
	case f.n > uint64(x.Size()) || f.off > uint64(x.Size())-f.n:
		return nil, outside
	}
	x.users++
	return x, fine
}

// leave ends a use of the export. The last one takes the memory back.
func (x *Export) leave() {
	x.e.mu.Lock()
	x.users--
	last := x.users == 0
	x.e.mu.Unlock()
	if last {
		_ = x.region.Close() // which can only say that the Proc is closed
	}
}

// Unexport ends an export that nobody imports. If somebody does, the error is an InUseError with the ranks.
func (x *Export) Unexport() error {
	x.e.catchUp()
	x.e.mu.Lock()
	switch {
	case x.ended != nil:
		x.e.mu.Unlock()
		return weft.ErrClosed
	case len(x.imports) > 0:
		defer x.e.mu.Unlock()
		return &InUseError{x.name, slices.Sorted(maps.Keys(x.imports))}
	}
	x.end(weft.ErrClosed)
	x.e.mu.Unlock()
	x.leave()
	return nil
}

// Revoke ends the export, also if it is imported. When it returns all that import it have been told, or are gone: sends
// that begin later end with a RevokedError, which carries the reason. When ctx ends first the export is ended all the
// same, and those that have not said that they know learn of it by and by.
func (x *Export) Revoke(ctx context.Context, reason string) error {
	x.e.mu.Lock()
	if x.ended != nil {
		x.e.mu.Unlock()
		return weft.ErrClosed
	}
	x.end(weft.ErrClosed)
	ranks := slices.Sorted(maps.Keys(x.imports))
	x.e.mu.Unlock()
	defer x.leave()
	if len(reason) > maxName {
		reason = reason[:maxName]
	}
	var calls []*call
	var err error
	for _, rank := range ranks {
		c, e := x.e.ask(ctx, x.e.peers[rank], frame{kind: revoke, export: x.id, name: []byte(reason)}, nil, nil)
		calls = append(calls, c)
		err = errors.Join(err, unlessGone(e))
	}
	for i, c := range calls {
		if c == nil {
			continue
		}
		_, e := x.e.wait(ctx, x.e.peers[ranks[i]], c)
		x.e.mu.Lock()
		x.e.free(x.e.peers[ranks[i]], c)
		x.e.mu.Unlock()
		err = errors.Join(err, unlessGone(e))
	}
	if err != nil {
		err = &weft.WaitError{Doing: "vmmc: revoking of export " + x.name, Err: err}
	}
	return err
}

// tell lets those that import the export know that it has ended, and does not wait for them.
func (x *Export) tell(reason string) {
	for rank := range x.imports { // which nobody changes any more
		_ = x.e.post(rank, &frame{kind: revoke, export: x.id, name: []byte(reason)})
	}
}

// end takes the export out of what can be imported and sent to. The lock is held.
func (x *Export) end(why error) {
	x.ended = why
	delete(x.e.exports, x.id)
	delete(x.e.names, x.name)
	if x.matcher != nil {
		x.matcher.end(why)
	}
}

// lose forgets the imports of a rank that is gone. The lock is held.
func (x *Export) lose(gone *weft.PeerError) {
	had := x.imports[gone.Rank] > 0
	delete(x.imports, gone.Rank)
	if x.matcher != nil {
		x.matcher.lose(gone, had && len(x.imports) == 0)
	}
}
