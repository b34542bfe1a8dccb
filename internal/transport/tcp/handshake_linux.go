package tcp

import (
	"errors"
	"fmt"
	"net"
	"time"

	"weft/internal/handshake"
)

// The handshake is package handshake's exchange of proofs (PROTOCOL §8). Whether records are encrypted
// is not negotiated: each side knows it from its configuration (PROTOCOL §8.2).

// protocol is part of the proofs.
const protocol = "tcp"

// errStranger reports a peer that does not know the secret.
var errStranger = fmt.Errorf("weft: tcp: %w", handshake.ErrStranger)

func (t *Transport) pair(dialler, listener uint32) handshake.Pair {
	return handshake.Pair{Secret: t.cfg.Secret, Job: t.cfg.Job, Dialler: dialler, Listener: listener}
}

// patience is how long a peer has for the handshake. A peer that is stopped meanwhile is noticed
// within the liveness time, as it would be later.
func (t *Transport) patience() time.Duration {
	if t.cfg.Liveness > 0 {
		return min(t.cfg.Liveness, handshake.Timeout)
	}
	return handshake.Timeout
}

// greet is the dialler's side.
func (t *Transport) greet(c net.Conn, peer int) (s handshake.Session, err error) {
	defer handshake.Within(c, t.patience())()
	s, err = t.pair(uint32(t.cfg.Rank), uint32(peer)).Dial(c, protocol)
	if errors.Is(err, handshake.ErrStranger) {
		return s, errStranger
	}
	return s, err
}

// welcome is the listener's side, on a connection with a deadline. The last message is still to be sent: the dialler
// must not count as connected if the listener has no descriptor for it.
func (t *Transport) welcome(v *handshake.Attempt) (*handshake.Callee, error) {
	return v.Answer(protocol, func(dialler, listener uint32) (handshake.Pair, error) {
		if int(listener) != t.cfg.Rank || int(dialler) >= t.cfg.Size || dialler == listener {
			return handshake.Pair{}, fmt.Errorf("weft: tcp: rank %d looks for rank %d here: %w", dialler, listener, errStranger)
		}
		return t.pair(dialler, listener), nil
	})
}
