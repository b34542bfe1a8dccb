package handshake

import (
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"slices"
	"time"
)

// Lengths in bytes, and the time that a handshake may take.
const (
	NonceSize = 16
	ProofSize = sha256.Size
	Timeout   = 10 * time.Second
)

// Nonce returns a new random number.
func Nonce() []byte {
	b := make([]byte, NonceSize)
	rand.Read(b)
	return b
}

// A Pair is two ranks of a job, one of which has dialled the other.
type Pair struct {
	Secret            []byte // of the job
	Job               uint64
	Dialler, Listener uint32
}

// Proof is what a side says to show that it knows the secret: an HMAC-SHA-256
// over who talks to whom over what, and the nonces of both, the dialler's first.
func (p Pair) Proof(side string, dialler, listener []byte) []byte {
	h := hmac.New(sha256.New, p.Secret)
	id := p.id()
	for _, part := range [][]byte{[]byte("weft " + side), id[:], dialler, listener} {
		h.Write(part)
	}
	return h.Sum(nil)
}

// Key returns size bytes for a purpose that only the two sides of a handshake know: HKDF
// with their nonces as salt. No other handshake has the same.
func (p Pair) Key(purpose string, dialler, listener []byte, size int) []byte {
	root, err := hkdf.Extract(sha256.New, p.Secret, slices.Concat(dialler, listener))
	if err != nil {
		panic(err) // only where SHA-256 is not to be had
	}
	id := p.id()
	key, err := hkdf.Expand(sha256.New, root, "weft "+purpose+string(id[:]), size)
	if err != nil {
		panic(err) // the size is small
	}
	return key
}

// id tells who talks to whom.
func (p Pair) id() (b [16]byte) {
	binary.LittleEndian.PutUint64(b[0:], p.Job)
	binary.LittleEndian.PutUint32(b[8:], p.Dialler)
	binary.LittleEndian.PutUint32(b[12:], p.Listener)
	return b
}

// Right reports whether a proof is the one expected, in constant time.
func Right(proof, want []byte) bool { return hmac.Equal(proof, want) }
