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
	// Ranks are the ranks that may import the export. Nil means all ranks, and an empty slice none but
	// this rank.
	Ranks []int

	// Notify is called for each send that asks for a notification, when its data is in place.
	// Handlers of all exports of the endpoint run one at a time. The context ends when the endpoint
	// is closed. If a handler panics its export is revoked, and Close returns a HandlerError.
	Notify func(ctx context.Context, n Notification)

	// Redirections makes it possible to redirect transfers to the export: it is how many transfers
	// may lie in the export without having been taken by a Redirection. Further transfers wait at
	// their senders, so every transfer must be taken in the end. 0 means that the export cannot be
	// redirected, and that transfers need no help of the endpoint.
	Redirections int
}

// maxRedirections bounds ExportConfig.Redirections.
const maxRedirections = 1 << 16

// An Export is memory of this rank into which other ranks can send. Any number of goroutines may
// call its methods.
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

// Export makes size bytes of zeroed memory, which the permitted ranks can import by name, a text of
// 1 to 200 bytes. If the name is exported already the error matches weft.ErrInUse.
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
	x := &Export{e: e, id: e.serial, name: name, ranks: slices.Clone(c.Ranks), notify: c.Notify,
		imports: map[int]int{}, users: 1}
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
	e.exports[x.id] = x
	e.names[name] = x
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

// Name returns the name of the export.
func (x *Export) Name() string { return x.name }

// Size returns the size in bytes.
func (x *Export) Size() int { return len(x.region.Bytes()) }

// Bytes returns the memory. It is valid until Unexport, Revoke or Close. Other ranks write to it at
// any time: a program must read it only after a word that was sent behind the data
// ([Export.Await]), or a notification, has shown that the data is in place.
func (x *Export) Bytes() []byte { return x.region.Bytes() }

// Load reads the word at off atomically. It panics unless off is a multiple of 8 inside the export.
func (x *Export) Load(off int) uint64 { return x.region.Load(off) }

// Await returns the word at off as soon as it differs from old: so a program waits for the word
// that a sender sends last. It waits as weft.Region.Await does, and has the same errors.
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

// A pendingImport is an import of a name that has not been exported yet.
type pendingImport struct {
	rank int
	op   uint64
}

// wanted answers an import, at once or when the name is exported.
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

// admit returns the answer to an import. The lock is held.
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

// target returns the export to which a rank sends, if it may; it repeats the checks of the sender's
// endpoint. If the status is fine the export has one more user. The lock is held.
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

// leave removes a user of the export. The last one takes the memory back.
func (x *Export) leave() {
	x.e.mu.Lock()
	x.users--
	last := x.users == 0
	x.e.mu.Unlock()
	if last {
		_ = x.region.Close() // fails only if the Proc is closed
	}
}

// Unexport ends an export that no rank imports. Otherwise the error is an InUseError with the
// ranks.
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

// Revoke ends the export even if ranks import it. When it returns nil, all of these ranks have been
// told or are gone: sends that begin later end with a RevokedError, which carries the reason, cut
// to 200 bytes. If ctx ends first the export has ended all the same, and the other ranks learn of
// it later.
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
		_, _, e := x.e.wait(ctx, x.e.peers[ranks[i]], c)
		err = errors.Join(err, unlessGone(e))
	}
	if err != nil {
		err = &weft.WaitError{Doing: "vmmc: revoking of export " + x.name, Err: err}
	}
	return err
}

// tell tells the ranks that import the export that it has ended, without waiting for them.
func (x *Export) tell(reason string) {
	for rank := range x.imports { // does not change any more
		_ = x.e.post(rank, &frame{kind: revoke, export: x.id, name: []byte(reason)})
	}
}

// end removes the export from the exports that can be imported and sent to. The lock is held.
func (x *Export) end(why error) {
	x.ended = why
	delete(x.e.exports, x.id)
	delete(x.e.names, x.name)
	if x.matcher != nil {
		x.matcher.end(why)
	}
}

// lose removes the imports of a rank that has died or left. The lock is held.
func (x *Export) lose(gone *weft.PeerError) {
	had := x.imports[gone.Rank] > 0
	delete(x.imports, gone.Rank)
	if x.matcher != nil {
		x.matcher.lose(gone, had && len(x.imports) == 0)
	}
}
