package stream

import (
	"bytes"
	"crypto/ed25519"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"math/big"
	"time"
)

// MinKey is the least length of Config.Key, in bytes. A key must be random: a phrase that a
// person can remember could be guessed.
const MinKey = 32

// ErrInsecure says that a connection between hosts needs Config.TLS or Config.Key, and neither is set. Package stream
// never sends plain text between hosts.
var ErrInsecure = errors.New(
	"stream: a connection between hosts needs Config.TLS or Config.Key: it is never unencrypted",
)

// errStranger reports a peer that does not know the key.
var errStranger = errors.New("stream: the other side does not have the same Config.Key")

// With a pre-shared key, each side derives from it a key pair for its role, and authenticates with
// that pair: Go's TLS takes no pre-shared keys. The two roles have different pairs, so that the
// proof of one side cannot be sent back to it.
const (
	roleListener = "weft stream 1, the listener"
	roleDialler  = "weft stream 1, the dialler"
)

// pairOf derives the key pair of a role from a pre-shared key.
func pairOf(key []byte, role string) (ed25519.PrivateKey, error) {
	seed, err := hkdf.Key(sha256.New, key, nil, role, ed25519.SeedSize)
	if err != nil {
		return nil, err
	}
	return ed25519.NewKeyFromSeed(seed), nil
}

// keyed returns the TLS configuration for a pre-shared key. This side shows a certificate of its
// role, signed by itself. It checks that the peer's certificate has the public key of the other role.
// Nothing else in a certificate counts.
func keyed(key []byte, mine, theirs string) (*tls.Config, error) {
	if len(key) < MinKey {
		return nil, fmt.Errorf("stream: Config.Key has %d bytes: it must have %d random bytes or more", len(key), MinKey)
	}
	own, err := pairOf(key, mine)
	if err != nil {
		return nil, err
	}
	other, err := pairOf(key, theirs)
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, own.Public(), own)
	if err != nil {
		return nil, err
	}
	want := other.Public().(ed25519.PublicKey)
	return &tls.Config{
		Certificates:           []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: own}},
		ClientAuth:             tls.RequireAnyClientCert,
		InsecureSkipVerify:     true, // VerifyConnection verifies instead
		SessionTicketsDisabled: true,
		VerifyConnection: func(s tls.ConnectionState) error {
			if len(s.PeerCertificates) == 1 {
				if is, ok := s.PeerCertificates[0].PublicKey.(ed25519.PublicKey); ok && bytes.Equal(is, want) {
					return nil
				}
			}
			return errStranger
		},
	}, nil
}

// secure returns the TLS configuration that the Config asks for, with version 1.3 as the least.
func (cfg *Config) secure(mine, theirs string) (*tls.Config, error) {
	var t *tls.Config
	switch {
	case cfg.TLS != nil && cfg.Key != nil:
		return nil, errors.New("stream: Config.TLS and Config.Key exclude each other")
	case cfg.TLS != nil:
		t = cfg.TLS.Clone()
	case cfg.Key != nil:
		var err error
		if t, err = keyed(cfg.Key, mine, theirs); err != nil {
			return nil, err
		}
	default:
		return nil, ErrInsecure
	}
	t.MinVersion = max(t.MinVersion, tls.VersionTLS13)
	return t, nil
}
