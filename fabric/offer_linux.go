package fabric

import (
	"sync"

	"weft/fabric/internal/ofi"
	"weft/internal/handshake"
)

// An offer is memory of this process that peers may reach. It is registered when the first asks for it.
type offer struct {
	key        uint64
	b          []byte
	access     ofi.Access
	registered *ofi.Registration
	to         map[*peer]bool // peers that have it
}

// Offer lets peers that know the key reach b.
func (t *Transport) Offer(region uint32, key uint64, b []byte, readOnly bool) {
	if len(b) == 0 {
		return
	}
	o := &offer{key: key, b: b, access: ofi.Remote, to: map[*peer]bool{}}
	if readOnly {
		o.access = ofi.Readable
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.offers[region] = o
}

// answer answers a peer that asks for memory.
func (t *Transport) answer(p *peer, w word) {
	t.mu.Lock()
	said := word{kind: answers, n: w.n}
	if o := t.offers[uint32(w.a)]; o != nil && o.key == w.b && !t.closed {
		if o.registered == nil {
			o.registered, _ = t.end.Register(o.b, o.access) // without it packets carry what the peer asks for
		}
		if o.registered != nil {
			o.to[p] = true
			said.a = o.registered.At
			said.b = o.registered.Key
			said.c = uint64(len(o.b))
		}
	}
	t.mu.Unlock()
	p.say(t, said)
}

// Retract takes memory back: it tells the peers that have it, and waits until they have let go of it. The registration
// of a peer's access that comes later is gone, which costs the two their connection.
func (t *Transport) Retract(region uint32) {
	t.mu.Lock()
	o := t.offers[region]
	delete(t.offers, region)
	if o == nil || o.registered == nil || t.freed {
		t.mu.Unlock()
		return
	}
	t.retracted[region] = o
	var to []*peer
	for p := range o.to {
		to = append(to, p)
	}
	t.mu.Unlock()
	for _, p := range to {
		p.say(t, word{kind: retracts, n: region})
	}
	late := make(chan struct{})
	defer handshake.After(shortly, sync.OnceFunc(func() { close(late) }))()
	_ = t.until(late, func() bool {
		for p := range o.to {
			if p.state == gone {
				delete(o.to, p)
			}
		}
		return len(o.to) == 0
	})
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.retracted, region)
	if !t.freed {
		o.registered.Close()
	}
}

// letGo takes note that a peer has let go of memory.
func (t *Transport) letGo(p *peer, region uint32) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if o := t.retracted[region]; o != nil {
		delete(o.to, p)
	}
}

// registrations returns what the endpoint's end has to end first. The lock is held.
func (t *Transport) registrations() []*ofi.Registration {
	all := []*ofi.Registration{t.slots.registered}
	for _, offers := range []map[uint32]*offer{t.offers, t.retracted} {
		for _, o := range offers {
			all = append(all, o.registered)
		}
	}
	for _, e := range t.reach.memory.entries {
		all = append(all, e.registered)
	}
	return all
}
