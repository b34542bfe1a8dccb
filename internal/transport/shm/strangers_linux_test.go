package shm

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"os"
	"runtime"
	"sync/atomic"
	"testing"

	"golang.org/x/sys/unix"

	"weft/internal/handshake"
	"weft/internal/sys"
	"weft/internal/transport"
	"weft/internal/transport/transporttest"
	"weft/internal/waittest"
)

func TestStrangers(t *testing.T) {
	fd, memory, err := sys.NewMemory("weft", segmentSize, false)
	if err != nil {
		t.Fatal(err)
	}
	segment{memory}.word(offMagic).Store(segmentMagic) // strangers fail by their proofs, not by what they bring along
	transporttest.Strangers(t, transporttest.Guarded{
		Open: func(t testing.TB, id transporttest.Identity, ev transport.Events) transport.Transport {
			s, err := Open(Config{Rank: id.Rank, Size: id.Size, Job: id.Job, Secret: []byte(id.Secret), Events: ev})
			if err != nil {
				t.Fatal(err)
			}
			return s
		},
		Pair:     (&Transport{cfg: Config{Job: 7, Secret: []byte("secret")}}).pair,
		Protocol: protocol,
		Listen:   listen,
		Knock:    knock,
		Say: func(c net.Conn, b []byte) error {
			if len(b) != handshake.ProofSize && len(b) != handshake.LastSize {
				return sys.SendFD(c.(*net.UnixConn), b, -1)
			}
			return sys.SendFD(c.(*net.UnixConn), b, fd)
		},
		Hear:     hear,
		Failures: func(t transport.Transport) uint64 { return t.(*Transport).door.Failures.Load() },
	})
}

// listeners counts the sockets of listen.
var listeners atomic.Int64

// listen opens a socket like that of a rank.
func listen() (l net.Listener, card string, err error) {
	card = fmt.Sprintf("weft-test-%d-%d", os.Getpid(), listeners.Add(1))
	l, err = net.Listen("unixpacket", "@"+card)
	return l, card, err
}

func knock(card string) (net.Conn, error) { return net.Dial("unixpacket", "@"+card) }

func hear(c net.Conn, b []byte) (int, error) {
	n, fd, err := sys.RecvFD(c.(*net.UnixConn), b)
	closeFD(fd)
	return n, err
}

// openPair opens rank 0, and the rank 1 of a stranger that knows the secret.
func openPair(t *testing.T) (victim, stranger *Transport, up chan int) {
	up = make(chan int, 8)
	open := func(rank int) *Transport {
		s, err := Open(Config{Rank: rank, Size: 2, Job: 1, Secret: make([]byte, 32), Events: transport.Events{
			Up: func(rank int) { up <- rank }, Down: func(int, error) {},
		}})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { s.Close() })
		return s
	}
	return open(0), open(1), up
}

// TestBadSegments: memory that its owner could take away, that is too short, or that
// is no segment is not used, though its owner has proved its identity.
func TestBadSegments(t *testing.T) {
	memory := func(size int, seals int, magic uint64) int {
		fd, err := unix.MemfdCreate("stranger", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
		if err == nil {
			err = unix.Ftruncate(fd, int64(size))
		}
		if err == nil {
			_, err = unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, seals)
		}
		if err == nil && size > 0 {
			_, err = unix.Pwrite(fd, binary.LittleEndian.AppendUint64(nil, magic), 0)
		}
		if err != nil {
			t.Fatal(err)
		}
		return fd
	}
	const all = unix.F_SEAL_SHRINK | unix.F_SEAL_GROW | unix.F_SEAL_SEAL
	file, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for name, fd := range map[string]int{
		"none": -1, "a file": int(file.Fd()), "not sealed": memory(segmentSize, 0, segmentMagic),
		"may shrink": memory(segmentSize, unix.F_SEAL_GROW|unix.F_SEAL_SEAL, segmentMagic),
		"too short":  memory(page, all, segmentMagic), "empty": memory(0, all, 0),
		"another version": memory(segmentSize, all, segmentMagic+1),
	} {
		victim, stranger, up := openPair(t)
		good := stranger.fd
		stranger.fd = fd
		err := stranger.Dial(0, victim.Card())
		stranger.fd = good
		if err == nil || len(up) > 0 || victim.Lane(1) != nil {
			t.Errorf("%s: %v, and the victim knows %d", name, err, len(up))
		}
		// The other way round: the victim dials, and is offered such memory.
		l, card, err := listen()
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			d := handshake.Acceptor{Limit: 2, Handshake: func(v *handshake.Attempt) error {
				said, _, _, err := stranger.welcome(v)
				if err == nil {
					err = sys.SendFD(v.Conn.(*net.UnixConn), said.Last(handshake.Accepted), fd)
				}
				if err != nil {
					t.Error(err)
				}
				return v.Admit()
			}}
			d.Serve(l.Accept)
		}()
		if err := victim.Dial(1, card); err == nil || victim.Lane(1) != nil {
			t.Errorf("%s: dialled: %v", name, err)
		}
		l.Close()
	}
}

// TestAnotherUser: a process of another user is sent away before anything is said,
// and nothing is said to a socket on which such a process listens.
func TestAnotherUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can be another user")
	}
	victim, _, up := openPair(t)
	var c net.Conn
	var l net.Listener
	var name string
	as(t, 65534, func() (err error) {
		if c, err = knock(victim.Card()); err == nil {
			l, name, err = listen()
		}
		return err
	})
	defer c.Close()
	defer l.Close()
	c.SetDeadline(waittest.End())
	if n, err := hear(c, make([]byte, 128)); n > 0 || err == nil || os.IsTimeout(err) {
		t.Errorf("another user heard %d bytes, %v", n, err)
	}
	heard := make(chan []byte, 1)
	go func() {
		b := make([]byte, 128)
		if c, err := l.Accept(); err == nil {
			n, _ := hear(c, b)
			c.Close()
			heard <- b[:n]
		}
	}()
	if err := victim.Dial(1, name); !errors.Is(err, errStranger) {
		t.Errorf("dialled another user: %v", err)
	}
	if b := <-heard; !bytes.Equal(b, nil) {
		t.Errorf("another user was told %x", b)
	}
	if len(up) > 0 {
		t.Error("another user is up")
	}
}

// as runs f as another user, in a thread that ends with it.
func as(t *testing.T, uid uintptr, f func() error) {
	t.Helper()
	done := make(chan error)
	go func() {
		runtime.LockOSThread() // and never unlocked
		var err error
		if _, _, errno := unix.RawSyscall(unix.SYS_SETRESUID, uid, uid, uid); errno != 0 {
			err = errno
		} else {
			err = f()
		}
		done <- err
	}()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}
