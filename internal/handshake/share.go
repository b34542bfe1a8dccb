package handshake

import (
	"bytes"
	"crypto/ecdh"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"slices"
)

// An Ephemeral is a pair of X25519 keys of one process, for agreements with many others. Its private half is nowhere
// but in the memory of the process.
type Ephemeral struct{ private *ecdh.PrivateKey }

// NewEphemeral draws a pair of keys.
func NewEphemeral() Ephemeral {
	private, err := ecdh.X25519().GenerateKey(rand.Reader)
	if err != nil {
		panic(err) // rand.Reader does not fail
	}
	return Ephemeral{private}
}

// Share returns the public half, 32 bytes. The caller owns them.
func (e Ephemeral) Share() []byte { return e.private.PublicKey().Bytes() }

// Root returns the root of the keys that this process has in common with the owner of a share, if both know the
// secret: as in an exchange, but the smaller share comes first in the salt. It returns nil if there is nothing to agree
// on with such a share.
func (e Ephemeral) Root(secret, share []byte) []byte {
	public, err := ecdh.X25519().NewPublicKey(share)
	if err != nil {
		return nil
	}
	agreed, err := e.private.ECDH(public)
	if err != nil { // a share of low order
		return nil
	}
	both := [][]byte{e.Share(), share}
	slices.SortFunc(both, bytes.Compare)
	root, err := hkdf.Extract(sha256.New, slices.Concat(secret, agreed), slices.Concat(both...))
	if err != nil {
		panic(err) // happens only where SHA-256 is not available
	}
	return root
}
