package link

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/binary"
)

// A direction is from one process of a job to another. Incarnations are drawn anew
// by every process, so no key is ever that of two directions: counters may begin at
// 1, and what was sent to another process is not taken for new.
type direction struct {
	job                            uint64
	src, dst                       uint32
	srcIncarnation, dstIncarnation uint64
}

// Each key has a label of its own: what a checksum gives away says nothing of the others.
const (
	labelFront    = "weft link front"
	labelBack     = "weft link back"
	labelChecksum = "weft link checksum"
	labelSeal     = "weft link seal"
)

const keySize = 16 // AES-128

// derive returns so many bytes of HKDF-SHA-256 for a purpose, and a number of keys for it.
func (d direction) derive(root []byte, label string, size int, number ...uint64) []byte {
	info := append(make([]byte, 0, 64), label...)
	info = binary.LittleEndian.AppendUint64(info, d.job)
	info = binary.LittleEndian.AppendUint32(info, d.src)
	info = binary.LittleEndian.AppendUint32(info, d.dst)
	info = binary.LittleEndian.AppendUint64(info, d.srcIncarnation)
	info = binary.LittleEndian.AppendUint64(info, d.dstIncarnation)
	for _, n := range number {
		info = binary.LittleEndian.AppendUint64(info, n)
	}
	key, err := hkdf.Expand(sha256.New, root, string(info), size)
	if err != nil {
		panic(err) // only where SHA-256 is not to be had: the size is small
	}
	return key
}

// gcm returns AES-GCM under a key that is derived.
func (d direction) gcm(root []byte, label string, number ...uint64) cipher.AEAD {
	block, err := aes.NewCipher(d.derive(root, label, keySize, number...))
	if err != nil {
		panic(err) // the key has 16 bytes
	}
	aead, err := cipher.NewGCM(block)
	if err != nil {
		panic(err) // AES has the right block size
	}
	return aead
}
