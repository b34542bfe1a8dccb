package handshake

import (
	"encoding/binary"
	"errors"
	"io"
	"slices"
)

// In the exchange two sides of a stream prove to each other that they know the secret. All messages have
// fixed lengths (PROTOCOL §8):
//
//	dialler                            listener
//	rank, wanted rank, nonce      ->
//	                              <-   nonce, proof
//	proof                         ->

// ErrStranger reports a peer that does not know the job's secret.
var ErrStranger = errors.New("the peer does not belong to this job")

// ErrHungUp reports a dialler that has closed the connection when it had seen the listener's proof: for the dialler
// the listener is a stranger.
var ErrHungUp = errors.New("the peer has closed the connection when it had seen this side's proof")

// A Session is the result of an exchange.
type Session struct {
	Pair              Pair
	Dialler, Listener []byte // their nonces
}

// Dial runs the dialler's side of the exchange. The name of the protocol is part of the proofs.
func (p Pair) Dial(c io.ReadWriter, protocol string) (s Session, err error) {
	mine := Nonce()
	hello := binary.LittleEndian.AppendUint32(nil, p.Dialler)
	hello = binary.LittleEndian.AppendUint32(hello, p.Listener)
	if _, err := c.Write(append(hello, mine...)); err != nil {
		return s, err
	}
	var reply [NonceSize + ProofSize]byte
	if _, err := io.ReadFull(c, reply[:]); err != nil {
		return s, err
	}
	theirs := reply[:NonceSize]
	if !Right(reply[NonceSize:], p.Proof(protocol+" listener", mine, theirs)) {
		return s, ErrStranger
	}
	_, err = c.Write(p.Proof(protocol+" dialler", mine, theirs))
	return Session{p, mine, theirs}, err
}

// Answer runs the listener's side of the exchange. find returns the pair of two ranks, or an error
// if there is none.
func Answer(c io.ReadWriter, protocol string, find func(dialler, listener uint32) (Pair, error)) (s Session,
	err error) {
	var hello [8 + NonceSize]byte
	if _, err := io.ReadFull(c, hello[:]); err != nil {
		return s, err
	}
	p, err := find(binary.LittleEndian.Uint32(hello[:]), binary.LittleEndian.Uint32(hello[4:]))
	if err != nil {
		return s, err
	}
	theirs := hello[8:]
	mine := Nonce()
	if _, err := c.Write(slices.Concat(mine, p.Proof(protocol+" listener", theirs, mine))); err != nil {
		return s, err
	}
	var proof [ProofSize]byte
	switch _, err := io.ReadFull(c, proof[:]); {
	case err == io.EOF:
		return s, ErrHungUp
	case err != nil:
		return s, err
	}
	if !Right(proof[:], p.Proof(protocol+" dialler", theirs, mine)) {
		return s, ErrStranger
	}
	return Session{p, theirs, mine}, nil
}
