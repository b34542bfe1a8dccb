package shm

import (
	"errors"
	"fmt"
	"net"
	"os"
	"time"

	"weft/internal/handshake"
	"weft/internal/sys"
)

// The handshake is package handshake's exchange of proofs, in records (PROTOCOL §7). The descriptor of each side's
// segment goes with its proof.

// protocol is part of the proofs.
const protocol = "shm"

// errStranger reports a peer that does not know the secret.
var errStranger = fmt.Errorf("weft: shm: %w", handshake.ErrStranger)

func (t *Transport) pair(dialler, listener uint32) handshake.Pair {
	return handshake.Pair{Secret: t.cfg.Secret, Job: t.cfg.Job, Dialler: dialler, Listener: listener, Local: true}
}

// greet is the dialler's side. It returns the peer's segment and process.
func (t *Transport) greet(c *net.UnixConn, peer int) (seg segment, pid int, err error) {
	_ = c.SetWriteDeadline(time.Now().Add(handshake.Timeout))
	defer func() { _ = c.SetDeadline(time.Time{}) }()
	pid, err = sameUser(c)
	if err != nil {
		return seg, 0, err
	}
	caller := t.pair(uint32(t.cfg.Rank), uint32(peer)).Call(protocol)
	if err := sys.SendFD(c, caller.Hello(), -1); err != nil {
		return seg, 0, &handshake.CutError{Err: err}
	}
	var buf [mostRecord]byte
	n, fd, err := t.answer(c, pid, buf[:])
	closeFD(fd)
	if err != nil {
		return seg, 0, &handshake.CutError{Err: err}
	}
	proof, err := caller.Reply(buf[:n])
	if err != nil {
		return seg, 0, errStranger
	}
	if err := sys.SendFD(c, proof, t.fd); err != nil {
		return seg, 0, err
	}
	n, fd, err = t.answer(c, pid, buf[:])
	if err != nil {
		return seg, 0, err
	}
	if caller.Last(buf[:n]) != nil {
		closeFD(fd)
		return seg, 0, errStranger
	}
	seg, err = mapSegment(fd)
	return seg, pid, err
}

// answer receives the peer's answer. A peer that is stopped has the liveness time, as it
// would have later. Only time during which this process ran counts: it may be stopped as well.
func (t *Transport) answer(c *net.UnixConn, pid int, buf []byte) (n, fd int, err error) {
	patience := handshake.Timeout
	if t.cfg.Liveness > 0 {
		patience = min(t.cfg.Liveness, patience)
	}
	step := max(patience/4, 1)
	for waited := step; ; waited += step {
		_ = c.SetReadDeadline(time.Now().Add(step))
		n, fd, err = sys.RecvFD(c, buf)
		if !errors.Is(err, os.ErrDeadlineExceeded) {
			return n, fd, err
		}
		if waited >= handshake.Timeout || waited >= patience && sys.Stopped(pid) {
			return n, fd, fmt.Errorf("weft: shm: process %d does not answer (stopped?): %w", pid, err)
		}
	}
}

// mostRecord is longer than any record of the handshake.
const mostRecord = 128

// welcome is the listener's side, on a connection with a deadline. The last message is still to be sent, with this
// side's segment.
func (t *Transport) welcome(v *handshake.Attempt) (said *handshake.Callee, seg segment, pid int, err error) {
	c := v.Conn.(*net.UnixConn)
	pid, err = sameUser(c)
	if err != nil {
		return nil, seg, 0, err
	}
	var buf [mostRecord]byte
	n, fd, err := sys.RecvFD(c, buf[:])
	closeFD(fd)
	if err != nil {
		return nil, seg, 0, err
	}
	said, err = handshake.Hear(buf[:n], protocol, func(dialler, listener uint32) (handshake.Pair, error) {
		if int(listener) != t.cfg.Rank || int(dialler) >= t.cfg.Size || dialler == listener {
			return handshake.Pair{}, fmt.Errorf("weft: shm: rank %d looks for rank %d here: %w", dialler, listener, errStranger)
		}
		return t.pair(dialler, listener), nil
	})
	if err != nil {
		_ = sys.SendFD(c, handshake.Refusal(), -1)
		return nil, seg, 0, err
	}
	v.Favour()
	if err := sys.SendFD(c, said.Reply(), -1); err != nil {
		return nil, seg, 0, err
	}
	n, fd, err = sys.RecvFD(c, buf[:])
	if err != nil {
		return nil, seg, 0, err
	}
	if said.Check(buf[:n]) != nil {
		closeFD(fd)
		return nil, seg, 0, errStranger
	}
	seg, err = mapSegment(fd)
	return said, seg, pid, err
}

// sameUser returns the peer's process, or an error if it is another user's.
func sameUser(c *net.UnixConn) (pid int, err error) {
	pid, uid, err := sys.Credentials(c)
	if err == nil && uid != os.Geteuid() {
		err = fmt.Errorf("weft: shm: the peer runs as user %d, not %d: %w", uid, os.Geteuid(), errStranger)
	}
	return pid, err
}

// errNoSegment reports a handshake in which everything but the segment has come.
var errNoSegment = errors.New("weft: shm: the peer's segment did not arrive: " +
	"has this process as many descriptors as it may (ulimit -n)?")

// mapSegment maps and checks the segment of a peer, and closes the descriptor. Memory whose owner could take it
// away under the mapping is refused (sys.MapMemory).
func mapSegment(fd int) (segment, error) {
	if fd < 0 {
		return segment{}, errNoSegment
	}
	m, err := sys.MapMemory(fd, false)
	if err != nil {
		return segment{}, err
	}
	s := segment{m}
	if err := s.check(); err != nil {
		sys.Unmap(m)
		return segment{}, err
	}
	return s, nil
}

// closeFD closes a descriptor, unless there is none (-1).
func closeFD(fd int) {
	if fd >= 0 {
		sys.CloseFD(fd)
	}
}
