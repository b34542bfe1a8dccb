package link

import "weft/internal/engine/wire"

// A Resealer makes packets for one Self into packets that another one, which differs
// from it in its secret only, takes in the same way: those that are good for the one
// are good for the other, and those that are not are not. A recording holds packets
// of this kind, so that it can be played without the job's secret.
type Resealer struct {
	from, to *Self
	keys     map[direction]*[2]*signer // of those who have proved to know the secret
	pkt      []byte
}

// mostKeys bounds for how many peers a Resealer keeps keys.
const mostKeys = 1 << 12

// NewResealer returns a Resealer between two Selfs.
func NewResealer(from, to *Self) *Resealer {
	return &Resealer{from: from, to: to, keys: map[direction]*[2]*signer{}}
}

// Reseal returns the packet for the other Self, valid until the next call.
func (r *Resealer) Reseal(pkt []byte) []byte {
	f, _, err := wire.ParseLink(pkt)
	if err != nil {
		return pkt // neither takes it
	}
	r.pkt = append(r.pkt[:0], pkt...)
	guard := r.pkt[wire.LinkSize-wire.TagSize : wire.LinkSize]
	keys := r.known(f, pkt)
	if keys == nil {
		return r.pkt // the other secret is nobody's: a tag that was wrong still is
	}
	front, payload, g := r.pkt, []byte(nil), Checked
	if f.Flags&wire.Checksum == 0 {
		g = Tagged
		front, payload = split(r.pkt)
	}
	copy(guard, keys[1].guard(g, f.Counter, front, payload))
	return r.pkt
}

// known returns the keys of a packet's direction in both worlds, or nil if the packet
// is not good.
func (r *Resealer) known(f wire.Link, pkt []byte) *[2]*signer {
	d := r.from.from(f.Src, f.Incarnation)
	keys := r.keys[d]
	if keys == nil {
		if !newVerifier(r.from.root, d, f, pkt).verify(f, pkt) {
			return nil
		}
		keys = &[2]*signer{newSigner(r.from.root, d), newSigner(r.to.root, d)}
		if len(r.keys) >= mostKeys {
			clear(r.keys)
		}
		r.keys[d] = keys
		return keys
	}
	if !keys[0].verify(f, pkt) {
		return nil
	}
	return keys
}
