package tcp

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"slices"
)

// errChanged reports an encrypted stream that is not what the peer has written.
var errChanged = errors.New("weft: tcp: the stream has been changed on its way")

// records encrypts what one side of a connection writes, or decrypts it at the other: a
// record for each packet, numbered from 0 (PROTOCOL §8.2). A record is the length of its
// packet, which is authenticated, and the packet under AES-128-GCM with its number as
// nonce. The order of a stream is the order of the numbers, so they are not sent.
type records struct {
	secret []byte
	each   uint64 // records under one key
	number uint64 // of the next record
	aead   cipher.AEAD
	nonce  [12]byte
	broken bool // a record was not right, so that no later one is taken
}

// keyRecords is how many records a key is for: of up to 64 KiB, 2^34 blocks.
const keyRecords = 1 << 22

func newRecords(s session, purpose string) *records {
	return &records{secret: s.pair.Key(purpose, s.dialler, s.listener, sha256.Size), each: keyRecords}
}

// next goes on to the next record.
func (r *records) next() {
	if r.number%r.each == 0 {
		r.aead = r.key(r.number / r.each)
	}
	binary.LittleEndian.PutUint64(r.nonce[4:], r.number)
	r.number++
}

// key derives key i.
func (r *records) key(i uint64) cipher.AEAD {
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

// append appends the record of a packet.
func (r *records) append(b, header, payload []byte) []byte {
	at := len(b)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(header)+len(payload)))
	b = append(append(b, header...), payload...)
	b = slices.Grow(b, tagSize)
	r.next()
	length, packet := b[at:at+headSize], b[at+headSize:]
	r.aead.Seal(packet[:0], r.nonce[:], packet, length)
	return b[:len(b)+tagSize]
}

// open decrypts a record, and returns the packet, which lies in it.
func (r *records) open(record []byte) ([]byte, error) {
	if r.broken {
		return nil, errChanged
	}
	r.next()
	length, sealed := record[:headSize], record[headSize:]
	packet, err := r.aead.Open(sealed[:0], r.nonce[:], sealed, length)
	if err != nil {
		r.broken = true
		return nil, errChanged
	}
	return packet[:len(packet):len(packet)], nil
}
