package stream

import (
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"weft/internal/mem"
	"weft/internal/sys"
	"weft/internal/waittest"
)

// liar meets a listener as a peer should, and returns the listener's end, its own end of the bell, and the memory.
func liar(t *testing.T, l *Listener) (accepted *Conn, bell *net.UnixConn, memory []byte) {
	t.Helper()
	dialled, accepted := connect(t, l, func() (*Conn, error) { return dialConn(t, new(Config), l.Addr().String()), nil })
	move(t, dialled, accepted)
	c, err := net.FileConn(dialled.bell)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return accepted, c.(*net.UnixConn), dialled.mem
}

// A peer writes anything anywhere into the shared memory, and bytes and descriptors into
// the socket, while both directions are in use: every call ends, by its deadline or with
// an error that says why, and nothing is touched outside.
func TestHostilePeer(t *testing.T) {
	l := listenAt(t, new(Config))
	for seed := range uint64(30) {
		c, sock, memory := liar(t, l)
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

// A listener that offers memory that could be cut off while it is mapped, or that is not as long as it should be, or
// names a place that cannot be, or that sends what is no offer, harms nobody: the connection stays on its socket, or
// ends.
func TestHostileListener(t *testing.T) {
	unsealed, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer unsealed.Close()
	unsealed.Truncate(int64(memoryBytes(MinBuffer)))
	sealed := func(n int) int {
		fd, memory, err := sys.NewMemory("test", n, false)
		if err != nil {
			t.Fatal(err)
		}
		sys.Unmap(memory)
		t.Cleanup(func() { sys.CloseFD(fd) })
		return fd
	}
	short := sealed(memoryBytes(MinBuffer) - 4096)
	right := sealed(memoryBytes(MinBuffer))
	path := filepath.Join(t.TempDir(), "s")
	l, err := net.ListenUnix("unix", unixAddr(path))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	file := int(unsealed.Fd())
	one := layout{1, MinBuffer}
	says := func(p place) int {
		here, there, err := sys.Pair()
		if err == nil {
			err = sendPlace(here, p)
		}
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			sys.CloseFD(here)
			sys.CloseFD(there)
		})
		return there
	}
	empty, _, err := sys.Pair()
	if err != nil {
		t.Fatal(err)
	}
	for name, mark := range map[string]struct {
		mark byte
		fds  []int
		want error // nil: the stream goes on
	}{
		"unsealed":                     {offer, []int{file, says(place{one, 0, 1})}, nil},
		"short":                        {offer, []int{short, says(place{one, 0, 1})}, ErrCorrupt},
		"fewer slots":                  {offer, []int{right, says(place{layout{2, MinBuffer}, 1, 1})}, ErrCorrupt},
		"beyond the slots":             {offer, []int{right, says(place{one, 1, 1})}, ErrCorrupt},
		"no slots":                     {offer, []int{right, says(place{layout{0, MinBuffer}, 0, 1})}, ErrCorrupt},
		"too many slots":               {offer, []int{right, says(place{layout{1 << 31, MinBuffer}, 7, 1})}, ErrCorrupt},
		"a buffer that cannot be":      {offer, []int{right, says(place{layout{1, MinBuffer + 1}, 0, 1})}, ErrCorrupt},
		"a turn that cannot be":        {offer, []int{right, says(place{one, 0, 0})}, ErrCorrupt},
		"a slot that is not lent":      {offer, []int{right, says(place{one, 0, 1})}, nil},
		"a bell without a place":       {offer, []int{right, empty}, nil},
		"one descriptor":               {offer, []int{right}, nil},
		"three descriptors":            {offer, []int{right, right, right}, nil},
		"a bell that is no socket":     {offer, []int{right, file}, nil},
		"a mark that nobody knows":     {'?', []int{file}, ErrCorrupt},
		"a refusal with no descriptor": {stranger, nil, nil}, // a byte of the stream
	} {
		c := dialConn(t, new(Config), path)
		defer c.Close()
		sock, err := l.AcceptUnix()
		if err != nil {
			t.Fatal(err)
		}
		defer sock.Close()
		sock.Write([]byte("before"))
		if len(mark.fds) == 0 {
			sock.Write([]byte{mark.mark})
		} else if err := sys.SendMark(sock, mark.mark, mark.fds...); err != nil {
			t.Fatal(err)
		}
		sock.Write([]byte("after"))
		sock.CloseWrite()
		b, err := io.ReadAll(c)
		if !errors.Is(err, mark.want) || !strings.HasPrefix(string(b), "before") ||
			mark.want == nil && !strings.HasSuffix(string(b), "after") {
			t.Errorf("%s: %q, %v", name, b, err)
		}
	}
}
