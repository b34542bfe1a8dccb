package handshake

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"slices"
)

// ErrChanged reports an encrypted stream whose bytes were changed on their way.
var ErrChanged = errors.New("weft: the stream has been changed on its way")

// The lengths in bytes of what a record adds to its packet: HeadSize before it, TagSize behind it.
const (
	HeadSize = 4
	TagSize  = 16
)

// Records encrypts what one side of a connection writes, or decrypts it at the other side: one
// record for each packet, numbered from 0 (PROTOCOL §8.2). A record is the length of its packet,
// which is authenticated, and the packet encrypted with AES-128-GCM, with the record's number as
// the nonce. Records arrive in the order of their numbers, so the numbers are not sent.
type Records struct {
	secret []byte
	Each   uint64 // records under one key
	number uint64 // of the next record
	aead   cipher.AEAD
	nonce  [12]byte
	broken bool // a record was not authentic, so no later one is accepted
}

// keyRecords is how many records one key encrypts. With 64 KiB each these are 2^34 blocks of AES.
const keyRecords = 1 << 22

// Records returns the Records of one direction of a stream, which the purpose names.
func (s Session) Records(purpose string) *Records {
	return &Records{secret: s.Key(purpose, sha256.Size), Each: keyRecords}
}

// next advances to the next record, and to the next key when it is time.
func (r *Records) next() {
	if r.number%r.Each == 0 {
		r.aead = r.key(r.number / r.Each)
	}
	binary.LittleEndian.PutUint64(r.nonce[4:], r.number)
	r.number++
}

// key derives key i.
func (r *Records) key(i uint64) cipher.AEAD {
	info := binary.LittleEndian.AppendUint64([]byte("weft tcp key"), i)
	key, err := hkdf.Expand(sha256.New, r.secret, string(info), 16)
	if err != nil {
		panic(err) // only where SHA-256 is not to be had: the size is small
	}
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

// Append appends to b the record of a packet, which consists of header and payload.
func (r *Records) Append(b, header, payload []byte) []byte {
	at := len(b)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(header)+len(payload)))
	b = append(append(b, header...), payload...)
	b = slices.Grow(b, TagSize)
	r.next()
	length := b[at : at+HeadSize]
	packet := b[at+HeadSize:]
	r.aead.Seal(packet[:0], r.nonce[:], packet, length)
	return b[:len(b)+TagSize]
}

// Open decrypts a record in place, and returns its packet.
func (r *Records) Open(record []byte) ([]byte, error) {
	if r.broken {
		return nil, ErrChanged
	}
	r.next()
	length := record[:HeadSize]
	sealed := record[HeadSize:]
	packet, err := r.aead.Open(sealed[:0], r.nonce[:], sealed, length)
	if err != nil {
		r.broken = true
		return nil, ErrChanged
	}
	return packet[:len(packet):len(packet)], nil
}
