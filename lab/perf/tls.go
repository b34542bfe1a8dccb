package perf

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"math/big"
	"net"
	"time"

	"weft/stream"
)

// listen listens as a Go program would; for TLS with a certificate made for this.
func listen(network, address string, s Spec) (net.Listener, error) {
	switch network {
	case "tls":
	case "stream":
		return streamConfig(s).Listen(context.Background(), address)
	default:
		return net.Listen(network, address)
	}
	cert, err := certificate()
	if err != nil {
		return nil, err
	}
	return tls.Listen("tcp", address, &tls.Config{MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{cert}})
}

// accept returns the next connection, after the handshake of TLS.
func accept(l net.Listener) (net.Conn, error) {
	c, err := l.Accept()
	if t, ok := c.(*tls.Conn); ok && err == nil {
		err = t.Handshake()
	}
	return c, err
}

// dial connects. For TLS it makes sure of the cipher, which Go does not let a program choose.
func dial(network, address string, s Spec) (net.Conn, error) {
	switch network {
	case "tls":
	case "stream":
		return streamConfig(s).Dial(context.Background(), address)
	default:
		return net.Dial(network, address)
	}
	// The identity of the server does not affect the speed.
	c, err := tls.Dial("tcp", address, &tls.Config{MinVersion: tls.VersionTLS13, InsecureSkipVerify: true})
	if err != nil {
		return nil, err
	}
	if s := c.ConnectionState(); s.CipherSuite != tls.TLS_AES_128_GCM_SHA256 {
		c.Close()
		return nil, fmt.Errorf("TLS with %s: this processor has no instructions for AES, so the figures would mean little",
			tls.CipherSuiteName(s.CipherSuite))
	}
	return c, nil
}

// streamConfig returns how the connections of package stream wait.
func streamConfig(s Spec) *stream.Config {
	if s.Blocked {
		return &stream.Config{Spin: -1}
	}
	return new(stream.Config)
}

// certificate returns a self-signed certificate.
func certificate() (c tls.Certificate, err error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return c, err
	}
	template := x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
	}
	der, err := x509.CreateCertificate(rand.Reader, &template, &template, &key.PublicKey, key)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, err
}
