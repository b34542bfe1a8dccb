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

// Nonce returns NonceSize new random bytes.
func Nonce() []byte {
	b := make([]byte, NonceSize)
	rand.Read(b)
	return b
}

// A Pair is two ranks of a job, one of which dials the other, with the job's secret.
type Pair struct {
	Secret            []byte // of the job
	Job               uint64
	Dialler, Listener uint32
}

// Proof returns what a side sends to prove that it knows the secret: an HMAC-SHA-256 over the side,
// the job, both ranks, and the nonces of both sides.
func (p Pair) Proof(side string, dialler, listener []byte) []byte {
	h := hmac.New(sha256.New, p.Secret)
	id := p.id()
	for _, part := range [][]byte{[]byte("weft " + side), id[:], dialler, listener} {
		h.Write(part)
	}
	return h.Sum(nil)
}

// Key returns size bytes for a purpose that only the two sides of one handshake know: HKDF [RFC
// 5869] with their nonces as salt. Every handshake has other keys.
func (p Pair) Key(purpose string, dialler, listener []byte, size int) []byte {
	root, err := hkdf.Extract(sha256.New, p.Secret, slices.Concat(dialler, listener))
	if err != nil {
		panic(err) // happens only where SHA-256 is not available
	}
	id := p.id()
	key, err := hkdf.Expand(sha256.New, root, "weft "+purpose+string(id[:]), size)
	if err != nil {
		panic(err) // the size is small
	}
	return key
}

// id returns the job and both ranks, as they stand in proofs and keys.
func (p Pair) id() (b [16]byte) {
	binary.LittleEndian.PutUint64(b[0:], p.Job)
	binary.LittleEndian.PutUint32(b[8:], p.Dialler)
	binary.LittleEndian.PutUint32(b[12:], p.Listener)
	return b
}

// Right reports whether a proof is the expected one, in constant time.
func Right(proof, want []byte) bool { return hmac.Equal(proof, want) }
