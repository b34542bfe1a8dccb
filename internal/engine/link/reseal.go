package link

import "weft/internal/engine/wire"

// A Resealer turns packets for one Self into packets for another, which differs from it only
// in its secret. A packet that the first accepts is accepted by the other; one that the
// first refuses is refused by the other. A recording holds such packets, so that it can be
// played back without the job's secret.
type Resealer struct {
	from, to *Self
	keys     map[direction]*[2]signer // of peers that have proved to know the secret
	roots    map[direction][]byte     // of what encrypts their frames, if they have agreed on it with the first
	pkt      []byte
}

// mostKeys bounds for how many peers a Resealer keeps keys.
const mostKeys = 1 << 12

// NewResealer returns a Resealer between two Selfs.
func NewResealer(from, to *Self) *Resealer {
	return &Resealer{from: from, to: to, keys: map[direction]*[2]signer{}, roots: map[direction][]byte{}}
}

// Agree takes the share of a peer whose packets the first Self gets from now on. The second agrees on nothing.
func (r *Resealer) Agree(peer uint32, incarnation uint64, share []byte) {
	d := r.from.from(peer, incarnation)
	if len(share) == wire.ShareSize && r.from.agreement.Root != nil && r.roots[d] == nil {
		r.roots[d] = r.from.agreement.Root(share)
		delete(r.keys, d)
	}
}

// Reseal returns the packet for the other Self, valid until the next call.
func (r *Resealer) Reseal(pkt []byte) []byte {
	var f wire.Link
	if _, err := f.Parse(pkt); err != nil {
		return pkt // neither takes it
	}
	r.pkt = append(r.pkt[:0], pkt...)
	frame, there := r.known(&f, pkt)
	switch g := guardOf(&f); {
	case there == nil: // a wrong guard is also wrong under the other secret
	case g == Encrypted:
		r.pkt = there.seal(r.pkt[:0], f.Counter, pkt[:wire.LinkSize], frame)
	default:
		front, payload := split(r.pkt)
		there.tag(g, f.Counter, front, payload)
	}
	return r.pkt
}

// known returns the frame of a packet, and what guards its direction in the other world,
// or nil if the packet is not good.
func (r *Resealer) known(f *wire.Link, pkt []byte) (frame []byte, there *signer) {
	d := r.from.from(f.Src, f.Incarnation)
	keys := r.keys[d]
	proved := keys != nil
	if !proved {
		keys = &[2]signer{r.from.receiver(f.Src, f.Incarnation), r.to.receiver(f.Src, f.Incarnation)}
		keys[0].root = r.roots[d]
	}
	frame, ok := keys[0].open(f, pkt)
	if !ok {
		return nil, nil
	}
	if !proved {
		if len(r.keys) >= mostKeys {
			clear(r.keys)
		}
		r.keys[d] = keys
	}
	if f.Kind == wire.KindGreet {
		r.Agree(f.Src, f.Incarnation, frame)
	}
	return frame, &keys[1]
}
