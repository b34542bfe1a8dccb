package link

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/binary"
	"hash/crc32"

	"weft/internal/engine/wire"
	"weft/internal/mutant"
)

// maxJoined is the longest payload that is authenticated together with what
// precedes it. A longer one lies elsewhere, is never copied, and has a tag of
// its own under a key of its own; the packet carries the sum of the two.
const maxJoined = 256

// A signer makes the tags of one direction (PROTOCOL §2.2).
type signer struct {
	front, back cipher.AEAD
	seed        uint32 // of checksums
	nonce       [12]byte
	tag         [wire.TagSize]byte
	second      [wire.TagSize]byte
}

// A direction is from one process of a job to another. Incarnations are drawn anew
// by every process, so no key is ever that of two directions: counters may begin at
// 1, and what was sent to another process is not taken for new.
type direction struct {
	job                            uint64
	src, dst                       uint32
	srcIncarnation, dstIncarnation uint64
}

// newSigner derives what guards the packets of a direction. Each key has a label of
// its own: what a checksum gives away says nothing of the others.
func newSigner(root []byte, d direction) *signer {
	return &signer{front: d.front(root), back: d.back(root), seed: d.seed(root)}
}

// newVerifier derives only what it takes to verify one packet: whoever sends it may
// be anybody, and each key costs microseconds.
func newVerifier(root []byte, d direction, f wire.Link, pkt []byte) *signer {
	if f.Flags&wire.Checksum != 0 {
		return &signer{seed: d.seed(root)}
	}
	s := &signer{front: d.front(root)}
	if _, payload := split(pkt); len(payload) > 0 {
		s.back = d.back(root)
	}
	return s
}

const keySize = 16 // AES-128

func (d direction) front(root []byte) cipher.AEAD {
	return gmac(d.derive(root, "weft link front", keySize))
}

func (d direction) back(root []byte) cipher.AEAD {
	return gmac(d.derive(root, "weft link back", keySize))
}

func (d direction) seed(root []byte) uint32 {
	return binary.LittleEndian.Uint32(d.derive(root, "weft link checksum", crc32.Size))
}

// derive returns so many bytes of HKDF-SHA-256 for a purpose.
func (d direction) derive(root []byte, label string, size int) []byte {
	if mutant.On(mutant.OldIncarnation) {
		d.srcIncarnation, d.dstIncarnation = 0, 0
	}
	info := append(make([]byte, 0, 64), label...)
	info = binary.LittleEndian.AppendUint64(info, d.job)
	info = binary.LittleEndian.AppendUint32(info, d.src)
	info = binary.LittleEndian.AppendUint32(info, d.dst)
	info = binary.LittleEndian.AppendUint64(info, d.srcIncarnation)
	info = binary.LittleEndian.AppendUint64(info, d.dstIncarnation)
	key, err := hkdf.Expand(sha256.New, root, string(info), size)
	if err != nil {
		panic(err) // only where SHA-256 is not to be had: the size is small
	}
	return key
}

func gmac(key []byte) cipher.AEAD {
	block, err := aes.NewCipher(key)
	if err != nil {
		panic(err) // the key has 16 bytes
	}
	aead, err := cipher.NewGCM(block)
	if err != nil {
		panic(err) // AES has the right block size
	}
	return aead
}

// sign returns the tag of a packet whose front part ends before the payload,
// valid until the next call. The tag field in the front is not covered.
func (s *signer) sign(counter uint64, front, payload []byte) []byte {
	binary.LittleEndian.PutUint64(s.nonce[4:], counter)
	var field [wire.TagSize]byte
	at := front[wire.LinkSize-wire.TagSize : wire.LinkSize]
	copy(field[:], at)
	clear(at)
	tag := s.front.Seal(s.tag[:0], s.nonce[:], nil, front)
	copy(at, field[:])
	if len(payload) > 0 {
		s.back.Seal(s.second[:0], s.nonce[:], nil, payload)
		subtle.XORBytes(tag, tag, s.second[:])
	}
	return tag
}

// sum returns what a packet whose network is trusted carries in the place of a
// tag, valid until the next call: a CRC-32C that starts from a value of its own
// for every direction, and zeros.
func (s *signer) sum(front, payload []byte) []byte {
	sum := crc32.Update(s.seed, castagnoli, front[:wire.LinkSize-wire.TagSize])
	sum = crc32.Update(sum, castagnoli, front[wire.LinkSize:])
	sum = crc32.Update(sum, castagnoli, payload)
	s.tag = [wire.TagSize]byte{}
	binary.LittleEndian.PutUint32(s.tag[:], sum)
	return s.tag[:]
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// guard returns what protects a packet.
func (s *signer) guard(g Guard, counter uint64, front, payload []byte) []byte {
	if g == Checked {
		return s.sum(front, payload)
	}
	return s.sign(counter, front, payload)
}

// verify reports whether a packet's tag, or checksum, is right.
func (s *signer) verify(f wire.Link, pkt []byte) bool {
	guard := pkt[wire.LinkSize-wire.TagSize : wire.LinkSize]
	if f.Flags&wire.Checksum != 0 {
		return string(s.sum(pkt, nil)) == string(guard)
	}
	front, payload := split(pkt)
	return subtle.ConstantTimeCompare(s.sign(f.Counter, front, payload), guard) == 1
}

// split separates a payload that has its own tag from what precedes it.
func split(pkt []byte) (front, payload []byte) {
	if len(pkt) > wire.LinkSize+maxJoined {
		head := wire.HeadSize(wire.Type(pkt[wire.LinkSize]))
		if at := wire.LinkSize + head; head > 0 && len(pkt)-at > maxJoined {
			return pkt[:at], pkt[at:]
		}
	}
	return pkt, nil
}

// A replayWindow remembers which of the last packets have been seen. It has more bits
// than it answers for: words are cleared whole as counters grow, and none of them may
// hold a counter that still counts.
type replayWindow struct {
	top  uint64 // the highest counter seen
	seen [2 * replaySize / 64]uint64
}

const replaySize = 1024

// fresh reports whether a counter has not been seen.
func (w *replayWindow) fresh(c uint64) bool {
	if c > w.top {
		return true
	}
	return c > 0 && w.top-c < replaySize && w.seen[c/64%uint64(len(w.seen))]&(1<<(c%64)) == 0
}

// mark remembers a fresh counter.
func (w *replayWindow) mark(c uint64) {
	if c > w.top {
		for i := w.top/64 + 1; i <= c/64 && i <= w.top/64+uint64(len(w.seen)); i++ {
			w.seen[i%uint64(len(w.seen))] = 0
		}
		w.top = c
	}
	w.seen[c/64%uint64(len(w.seen))] |= 1 << (c % 64)
}
