package handshake

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
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

// A Pair is two ranks of a job, one of whom has dialled the other.
type Pair struct {
	Secret            []byte // of the job
	Job               uint64
	Dialler, Listener uint32
}

// Proof is what a side says to show that it knows the secret: an HMAC-SHA-256
// over who talks to whom over what, and the nonces of both, the dialler's first.
func (p Pair) Proof(side string, dialler, listener []byte) []byte {
	h := hmac.New(sha256.New, p.Secret)
	var id [16]byte
	binary.LittleEndian.PutUint64(id[0:], p.Job)
	binary.LittleEndian.PutUint32(id[8:], p.Dialler)
	binary.LittleEndian.PutUint32(id[12:], p.Listener)
	for _, part := range [][]byte{[]byte("weft " + side), id[:], dialler, listener} {
		h.Write(part)
	}
	return h.Sum(nil)
}

// Right reports whether a proof is the one expected, in constant time.
func Right(proof, want []byte) bool { return hmac.Equal(proof, want) }
