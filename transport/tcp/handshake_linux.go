package tcp

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"time"

	"weft/internal/handshake"
)

// The handshake, in fixed lengths (PROTOCOL §8):
//
//	dialler                            listener
//	rank, wanted rank, nonce      ->
//	                              <-   nonce, proof
//	proof                         ->
//	                              <-   1, or 2: there is no descriptor for it
//
// Whether records are encrypted is not said: each side knows it. (PROTOCOL §8.2)

// errStranger reports a peer that does not know the secret.
var errStranger = errors.New("weft: tcp: the peer does not belong to this job")

// errCrowded reports a peer that has no descriptor for the connection.
var errCrowded = errors.New("weft: tcp: it has as many descriptors as it may (ulimit -n)")

// What a listener says at the end.
const (
	accepted = 1
	crowded  = 2
)

func (t *Transport) pair(dialler, listener uint32) handshake.Pair {
	return handshake.Pair{Secret: t.cfg.Secret, Job: t.cfg.Job, Dialler: dialler, Listener: listener}
}

// patience is how long a peer has for the handshake: one that is stopped meanwhile is
// noticed as soon as later.
func (t *Transport) patience() time.Duration {
	if t.cfg.Liveness > 0 {
		return min(t.cfg.Liveness, handshake.Timeout)
	}
	return handshake.Timeout
}

// A session is what the two sides of a handshake have said, the dialler first.
type session struct {
	pair              handshake.Pair
	dialler, listener []byte // their nonces
}

// greet is the dialler's side.
func (t *Transport) greet(c net.Conn, peer int) (s session, err error) {
	defer handshake.Within(c, t.patience())()
	pair, mine := t.pair(uint32(t.cfg.Rank), uint32(peer)), handshake.Nonce()
	hello := binary.LittleEndian.AppendUint32(nil, pair.Dialler)
	hello = binary.LittleEndian.AppendUint32(hello, pair.Listener)
	if _, err := c.Write(append(hello, mine...)); err != nil {
		return s, err
	}
	var reply [handshake.NonceSize + handshake.ProofSize]byte
	if _, err := io.ReadFull(c, reply[:]); err != nil {
		return s, err
	}
	theirs := reply[:handshake.NonceSize]
	if !handshake.Right(reply[handshake.NonceSize:], pair.Proof("tcp listener", mine, theirs)) {
		return s, errStranger
	}
	if _, err := c.Write(pair.Proof("tcp dialler", mine, theirs)); err != nil {
		return s, err
	}
	var last [1]byte
	_, err = io.ReadFull(c, last[:])
	if err == nil && last[0] != accepted {
		err = errCrowded
	}
	return session{pair, mine, theirs}, err
}

// answer is the last byte of the handshake: the dialler must not take itself for
// connected if the listener has no room for it.
func answer(c net.Conn, with byte) error {
	_, err := c.Write([]byte{with})
	return err
}

// welcome is the listener's side, on a connection with a deadline.
func (t *Transport) welcome(c net.Conn) (s session, err error) {
	var hello [8 + handshake.NonceSize]byte
	if _, err := io.ReadFull(c, hello[:]); err != nil {
		return s, err
	}
	pair := t.pair(binary.LittleEndian.Uint32(hello[:]), binary.LittleEndian.Uint32(hello[4:]))
	if int(pair.Listener) != t.cfg.Rank || int(pair.Dialler) >= t.cfg.Size || pair.Dialler == pair.Listener {
		return s, fmt.Errorf("weft: tcp: rank %d looks for rank %d here: %w", pair.Dialler, pair.Listener, errStranger)
	}
	theirs, mine := hello[8:], handshake.Nonce()
	if _, err := c.Write(slices.Concat(mine, pair.Proof("tcp listener", theirs, mine))); err != nil {
		return s, err
	}
	var proof [handshake.ProofSize]byte
	if _, err := io.ReadFull(c, proof[:]); err != nil {
		return s, err
	}
	if !handshake.Right(proof[:], pair.Proof("tcp dialler", theirs, mine)) {
		return s, errStranger
	}
	return session{pair, theirs, mine}, nil
}
