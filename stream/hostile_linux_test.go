package stream

import (
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"sync"
	"syscall"
	"testing"

	"weft/internal/mem"
	"weft/internal/sys"
	"weft/internal/waittest"
)

// liar meets a listener as a peer should, and returns the socket and the memory.
func liar(t *testing.T, address string) (*net.UnixConn, []byte) {
	t.Helper()
	sock, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: address})
	if err != nil {
		t.Fatal(err)
	}
	_, memory, _, err := new(Config).greet(t.Context(), sock, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		sock.Close()
		sys.Unmap(memory)
	})
	return sock, memory
}

// A peer writes anything anywhere into the shared memory, and bytes and descriptors into
// the socket, while both directions are in use: every call ends, by its deadline or with
// an error that says why, and nothing is touched outside.
func TestHostilePeer(t *testing.T) {
	l := listenAt(t, new(Config))
	for seed := range uint64(30) {
		sock, memory := liar(t, l.Addr().String())
		accepted, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		c := accepted.(*Conn)
		stop := make(chan bool)
		var wg sync.WaitGroup
		wg.Go(func() { // the liar
			rnd := rand.New(rand.NewPCG(seed, 2))
			sock.SetWriteDeadline(waittest.End())
			for {
				select {
				case <-stop:
					return
				default:
				}
				v := rnd.Uint64() >> rnd.IntN(64)
				at := callerAt + 8*rnd.IntN(2*512/8)
				if seed%3 == 0 { // doorbells only
					at = []int{256, 384, 392}[rnd.IntN(3)] + callerAt + 512*rnd.IntN(2)
					v %= 4
				}
				mem.Store64(memory, at, v)
				if rnd.IntN(1000) == 0 {
					sys.SendFD(sock, []byte{1}, int(os.Stdout.Fd()))
				}
			}
		})
		check := func(err error) {
			if err != nil && err != io.EOF && !errors.Is(err, ErrCorrupt) && !errors.Is(err, os.ErrDeadlineExceeded) &&
				!errors.Is(err, syscall.EPIPE) {
				t.Errorf("seed %d: %v", seed, err)
			}
		}
		c.SetDeadline(waittest.Soon())
		var calls sync.WaitGroup
		calls.Go(func() {
			_, err := io.CopyBuffer(struct{ io.Writer }{io.Discard}, struct{ io.Reader }{c}, make([]byte, 5000))
			check(err)
		})
		calls.Go(func() {
			for range 1 << 20 {
				if _, err := c.Write(make([]byte, 5000)); err != nil {
					check(err)
					return
				}
			}
		})
		calls.Wait()
		c.Close()
		close(stop)
		wg.Wait()
	}
}

// Memory that could be cut off while it is mapped is not mapped, nor is memory that is
// not as long as it should be; a listener that gives none is refused.
func TestHostileListener(t *testing.T) {
	unsealed, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer unsealed.Close()
	unsealed.Truncate(int64(memoryBytes(MinBuffer)))
	sealed, memory, err := sys.NewMemory("short", memoryBytes(MinBuffer)-4096, false)
	if err != nil {
		t.Fatal(err)
	}
	defer sys.CloseFD(sealed)
	defer sys.Unmap(memory)
	for name, fd := range map[string]int{"unsealed": int(unsealed.Fd()), "short": sealed, "none": -1} {
		if fd >= 0 {
			fd = sys.DupFD(fd)
		}
		if _, _, err := accept(record(welcome, MinBuffer), fd); !errors.Is(err, ErrRefused) &&
			!errors.Is(err, sys.ErrUnsealed) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, answer := range [][]byte{nil, record(welcome, MinBuffer)[:15], record(7, MinBuffer), record(welcome, 5),
		record(welcome, 1<<31)} {
		if _, _, err := accept(answer, sys.DupFD(sealed)); err == nil {
			t.Errorf("%q is accepted", answer)
		}
	}
}
