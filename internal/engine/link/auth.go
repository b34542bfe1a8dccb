package link

import (
	"crypto/cipher"
	"crypto/subtle"
	"encoding/binary"

	"weft/internal/checksum"
	"weft/internal/engine/wire"
)

// maxJoined is the longest payload that is authenticated together with what
// precedes it. A longer one lies elsewhere, is never copied, and has a tag of
// its own under a key of its own; the packet carries the sum of the two.
const maxJoined = 256

// A signer guards the packets of one direction (PROTOCOL §2.2). It derives a key when the
// key is needed first: a link uses one guard, and a packet of a stranger is to cost little.
type signer struct {
	self        *Self
	incarnation uint64 // of the peer
	peer        uint32
	sends       bool   // the packets are ours, not the peer's
	root        []byte // of the keys of encrypted frames; nil: the job's

	seeded bool
	silent bool   // keys are derived anew for each packet, and not kept
	seed   uint64 // of checksums
	keys   *keys  // nil until needed
}

// direction returns what the keys depend on.
func (s *signer) direction() direction {
	if s.sends {
		return s.self.to(s.peer, s.incarnation)
	}
	return s.self.from(s.peer, s.incarnation)
}

// keys are the ciphers of a signer, each nil until needed.
type keys struct {
	front, back cipher.AEAD
	sealing     [2][2]sealing // of encrypted packets without frames and with, the one with number n at n%2
}

// scratch is where signers of a Self put what is valid until the next call.
type scratch struct {
	keys   keys // of a signer that is silent
	nonce  [12]byte
	tag    [wire.TagSize]byte
	second [wire.TagSize]byte
}

// sender returns the signer of the packets to a peer.
func (s *Self) sender(peer uint32, incarnation uint64) signer {
	return signer{self: s, peer: peer, incarnation: incarnation, sends: true}
}

// receiver returns the signer of the packets from a peer.
func (s *Self) receiver(peer uint32, incarnation uint64) signer {
	return signer{self: s, peer: peer, incarnation: incarnation}
}

// ring returns the keys. While the signer is silent they are derived for one packet only.
func (s *signer) ring() *keys {
	switch {
	case s.keys != nil:
	case s.silent:
		s.self.scratch.keys = keys{}
		return &s.self.scratch.keys
	default:
		s.keys = new(keys)
	}
	return s.keys
}

// silence makes the signer forget its keys, and keep none, or ends that.
func (s *signer) silence(on bool) {
	if s.silent = on; on {
		s.keys = nil
	}
}

// sign returns the tag of a packet whose front part ends before the payload,
// valid until the next call. The tag field in the front is not covered.
func (s *signer) sign(counter uint64, front, payload []byte) []byte {
	k := s.ring()
	x := &s.self.scratch
	if k.front == nil {
		k.front = s.direction().gcm(s.self.root, labelFront)
	}
	var field [wire.TagSize]byte
	at := front[wire.TagAt:wire.LinkSize]
	copy(field[:], at)
	clear(at)
	x.count(counter)
	tag := k.front.Seal(x.tag[:0], x.nonce[:], nil, front)
	copy(at, field[:])
	if len(payload) > 0 {
		if k.back == nil {
			k.back = s.direction().gcm(s.self.root, labelBack)
		}
		k.back.Seal(x.second[:0], x.nonce[:], nil, payload)
		subtle.XORBytes(tag, tag, x.second[:])
	}
	return tag
}

// count sets the nonce.
func (x *scratch) count(counter uint64) { binary.LittleEndian.PutUint64(x.nonce[4:], counter) }

// sum returns the checksum of a packet on a trusted network. The packet carries it in the place of the tag, before
// zeros. A number that every direction has of its own is added to it.
func (s *signer) sum(front, payload []byte) uint64 {
	if !s.seeded {
		s.seed = binary.LittleEndian.Uint64(s.direction().derive(s.self.root, labelChecksum, 8))
		s.seeded = true
	}
	return s.seed + checksum.Sum(front[:wire.TagAt], front[wire.LinkSize:], payload)
}

// guarded makes p a packet with a guard. Its front begins with the header. An encrypted packet
// lies in memory of the Self.
func (s *signer) guarded(p *Packet, g Guard, counter uint64, front, payload []byte) {
	if g == Encrypted {
		p.Header = s.seal(s.self.room(len(front)+len(payload)), counter, front, payload)
		p.Payload = nil
		return
	}
	s.tag(g, counter, front, payload)
	p.Header = front
	p.Payload = payload
}

// tag fills in the tag, or the checksum, of a packet that is not encrypted.
func (s *signer) tag(g Guard, counter uint64, front, payload []byte) {
	tag := front[wire.TagAt:wire.LinkSize]
	if g == Checked {
		binary.LittleEndian.PutUint64(tag, s.sum(front, payload))
		clear(tag[8:])
	} else {
		copy(tag, s.sign(counter, front, payload))
	}
}

// open returns the frame of a packet, if its guard is right. That of an encrypted packet
// lies in memory of the Self, until the next call.
func (s *signer) open(f *wire.Link, pkt []byte) (frame []byte, ok bool) {
	guard := pkt[wire.TagAt:wire.LinkSize]
	switch guardOf(f) {
	case Encrypted:
		return s.unseal(f.Counter, pkt)
	case Checked:
		front, payload := split(pkt)
		ok = binary.LittleEndian.Uint64(guard) == s.sum(front, payload) && binary.LittleEndian.Uint64(guard[8:]) == 0
	default:
		front, payload := split(pkt)
		ok = subtle.ConstantTimeCompare(s.sign(f.Counter, front, payload), guard) == 1
	}
	return pkt[wire.LinkSize:], ok
}

// split separates a payload that is guarded by itself from what precedes it.
func split(pkt []byte) (front, payload []byte) {
	if len(pkt) > wire.LinkSize+maxJoined {
		head := wire.HeadSize(wire.Type(pkt[wire.LinkSize]))
		if at := wire.LinkSize + head; head > 0 && len(pkt)-at > maxJoined {
			return pkt[:at], pkt[at:]
		}
	}
	return pkt, nil
}
