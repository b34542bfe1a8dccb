package link

import (
	"crypto/cipher"

	"weft/internal/engine/wire"
)

// A key of encrypted packets is for so many of them: the counters that are equal but for
// these bits. Both ends find the next key by themselves. With packets of up to 16 KiB,
// what a key has encrypted stays below 2^34 blocks. (docs/decisions/0026)
const keyBits = 24

// sealing is a key of encrypted packets. AEAD is nil if there is none.
type sealing struct {
	number uint64
	aead   cipher.AEAD
}

// A content is what an encrypted packet carries.
type content int

const (
	control content = iota // no frame: under a key of the job, so that a process recognizes another that it meets
	framed                 // a frame: under a key that both processes have agreed on, if they have (agree.go)
)

// contentOf returns what a packet with this header carries.
func contentOf(header []byte) content {
	if k := wire.Kind(header[wire.KindAt]); k == wire.KindData || k == wire.KindPart {
		return framed
	}
	return control
}

// key returns the key for a counter.
func (s *signer) key(counter uint64, c content) sealing {
	number := counter >> s.self.keyBits
	if k := s.ring().sealing[c][number%2]; k.aead != nil && k.number == number {
		return k
	}
	root := s.self.root
	if c == framed && s.root != nil {
		root = s.root
	}
	return sealing{number, s.direction().gcm(root, labelSeal, number)}
}

// keep remembers a key that has proved to be the sender's, unless it is older than what
// it would replace.
func (s *signer) keep(k sealing, c content) {
	if old := &s.ring().sealing[c][k.number%2]; old.aead == nil || old.number < k.number {
		*old = k
	}
}

// seal appends a packet to dst: the header as it is, the rest encrypted, the tag.
func (s *signer) seal(dst []byte, counter uint64, front, payload []byte) []byte {
	dst = append(dst, front[:wire.TagAt]...)
	dst = append(dst, front[wire.LinkSize:]...)
	dst = append(dst, payload...)
	c := contentOf(front)
	k := s.key(counter, c)
	s.keep(k, c)
	s.self.scratch.count(counter)
	header := dst[:wire.TagAt]
	plain := dst[wire.TagAt:]
	return k.aead.Seal(header, s.self.scratch.nonce[:], plain, header)
}

// unseal returns the frame of an encrypted packet.
func (s *signer) unseal(counter uint64, pkt []byte) (frame []byte, ok bool) {
	header := pkt[:wire.TagAt]
	sealed := pkt[wire.TagAt:]
	if cap(s.self.plain) < len(sealed) {
		s.self.plain = make([]byte, 0, len(sealed))
	}
	c := contentOf(header)
	k := s.key(counter, c)
	s.self.scratch.count(counter)
	frame, err := k.aead.Open(s.self.plain[:0], s.self.scratch.nonce[:], sealed, header)
	if err != nil {
		return nil, false
	}
	s.keep(k, c)
	return frame, true
}

// sealedMost is how many bytes of encrypted packets may wait for the transport to take
// them: a batch of 64 that fit Ethernet frames, and not so many that the processor's
// cache loses them before they are taken.
const sealedMost = 96 << 10

// room returns memory for an encrypted packet, valid until unsealed.
func (s *Self) room(n int) []byte {
	if cap(s.sealed)-len(s.sealed) < n {
		s.sealed = make([]byte, 0, max(sealedMost+sealedMost/2, n)) // what has been returned stays where it is
	}
	at := len(s.sealed)
	s.sealed = s.sealed[:at+n]
	return s.sealed[at:at:len(s.sealed)]
}
