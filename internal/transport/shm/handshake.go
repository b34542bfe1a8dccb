package shm

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"os"
	"time"

	"weft/internal/handshake"
	"weft/internal/sys"
)

// The handshake, in records:
//
//	dialler                              listener
//	HELLO rank, wanted rank, nonce  ->
//	                                <-   CHALLENGE nonce, proof
//	PROOF proof, segment            ->
//	                                <-   WELCOME segment
//
// A proof is an HMAC over everything said, under the job's secret.

// errStranger reports a peer that does not know the secret.
var errStranger = errors.New("weft: shm: the peer does not belong to this job")

// proof is what one side says to show that it knows the secret.
func (t *Transport) proof(side string, dialler, listener uint32, a, b []byte) []byte {
	pair := handshake.Pair{Secret: t.cfg.Secret, Job: t.cfg.Job, Dialler: dialler, Listener: listener}
	return pair.Proof("shm "+side, a, b)
}

// greet is the dialler's side. It returns the peer's segment and process.
func (t *Transport) greet(c *net.UnixConn, peer int) (seg segment, pid int, err error) {
	_ = c.SetWriteDeadline(time.Now().Add(handshake.Timeout))
	defer func() { _ = c.SetDeadline(time.Time{}) }()
	pid, err = sameUser(c)
	if err != nil {
		return seg, 0, err
	}
	mine := handshake.Nonce()
	hello := binary.LittleEndian.AppendUint32(nil, uint32(t.cfg.Rank))
	hello = binary.LittleEndian.AppendUint32(hello, uint32(peer))
	if err := sys.SendFD(c, append(hello, mine...), -1); err != nil {
		return seg, 0, err
	}
	var buf [128]byte
	n, fd, err := t.answer(c, pid, buf[:])
	closeFD(fd)
	if err != nil {
		return seg, 0, err
	}
	if n != handshake.NonceSize+handshake.ProofSize {
		return seg, 0, errStranger
	}
	theirs := buf[:handshake.NonceSize]
	got := buf[handshake.NonceSize:n]
	if !handshake.Right(got, t.proof("listener", uint32(t.cfg.Rank), uint32(peer), mine, theirs)) {
		return seg, 0, errStranger
	}
	if err := sys.SendFD(c, t.proof("dialler", uint32(t.cfg.Rank), uint32(peer), mine, theirs), t.fd); err != nil {
		return seg, 0, err
	}
	_, fd, err = t.answer(c, pid, buf[:])
	if err != nil {
		return seg, 0, err
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

// welcome is the listener's side, on a connection with a deadline.
func (t *Transport) welcome(c *net.UnixConn) (peer int, seg segment, pid int, err error) {
	pid, err = sameUser(c)
	if err != nil {
		return 0, seg, 0, err
	}
	var buf [128]byte
	n, fd, err := sys.RecvFD(c, buf[:])
	closeFD(fd)
	if err != nil {
		return 0, seg, 0, err
	}
	if n != 8+handshake.NonceSize {
		return 0, seg, 0, errStranger
	}
	rank := binary.LittleEndian.Uint32(buf[:])
	wanted := binary.LittleEndian.Uint32(buf[4:])
	if int(wanted) != t.cfg.Rank || int(rank) >= t.cfg.Size || int(rank) == t.cfg.Rank {
		return 0, seg, 0, fmt.Errorf("weft: shm: rank %d looks for rank %d here: %w", rank, wanted, errStranger)
	}
	theirs := bytes.Clone(buf[8:n])
	mine := handshake.Nonce()
	reply := append(bytes.Clone(mine), t.proof("listener", rank, wanted, theirs, mine)...)
	if err := sys.SendFD(c, reply, -1); err != nil {
		return 0, seg, 0, err
	}
	n, fd, err = sys.RecvFD(c, buf[:])
	if err != nil {
		return 0, seg, 0, err
	}
	if !handshake.Right(buf[:n], t.proof("dialler", rank, wanted, theirs, mine)) {
		closeFD(fd)
		return 0, seg, 0, errStranger
	}
	if seg, err = mapSegment(fd); err != nil {
		return 0, seg, 0, err
	}
	return int(rank), seg, pid, nil
}

// accepted is the last record of the handshake: our segment.
func (t *Transport) accepted(c *net.UnixConn) error { return sys.SendFD(c, []byte{1}, t.fd) }

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
