package stream

import (
	"bufio"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"weft/internal/explore"
	"weft/internal/waittest"
)

// TestTakeover: while clients connect, ask and close, one listener after the other hands its socket on to a successor:
// no request fails, and each of them has served some.
func TestTakeover(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	l, err := new(Config).listenPath(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	var end atomic.Bool
	var clients sync.WaitGroup
	for range 4 {
		clients.Go(func() {
			for !end.Load() {
				c, err := Dial(t.Context(), path)
				if err != nil {
					t.Error(err)
					return
				}
				echo(t, c)
				c.Close()
			}
		})
	}
	for range 20 {
		go serve(l)
		for l.Stats().Made < 20 {
			c := dialConn(t, new(Config), path)
			echo(t, c)
			c.Close()
		}
		f, err := l.File()
		if err != nil {
			t.Fatal(err)
		}
		next, err := new(Config).FileListener(f, path)
		f.Close()
		if err != nil {
			t.Fatal(err)
		}
		l.SetUnlinkOnClose(false)
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		l = next
	}
	go serve(l)
	end.Store(true)
	clients.Wait()
	l.SetUnlinkOnClose(true)
	l.Close()
	if _, err := os.Lstat(path); err == nil {
		t.Error("the socket's file is left")
	}
}

// TestFileListenerRefuses: a socket that is no Unix socket is none for streams.
func TestFileListenerRefuses(t *testing.T) {
	tcp, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer tcp.Close()
	f, err := tcp.(*net.TCPListener).File()
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if l, err := new(Config).FileListener(f, "x"); err == nil {
		t.Errorf("%v", l.Addr())
	}
}

// childGeneration answers at a path until it is told to hand over: it then starts its successor, which takes the socket
// from it, and ends when its connections have.
func childGeneration(address string, args []string) error {
	var l *Listener
	var err error
	if len(args) == 0 {
		l, err = new(Config).listenPath(context.Background(), address)
	} else {
		l, err = new(Config).FileListener(os.NewFile(3, ""), address)
	}
	if err != nil {
		return err
	}
	served := make(chan bool)
	go func() {
		defer close(served)
		answerAll(l)
	}()
	say("serves")
	if !bufio.NewScanner(os.Stdin).Scan() {
		return l.Close() // the last one
	}
	f, err := l.File()
	if err != nil {
		return err
	}
	next := exec.Command("/proc/self/exe", address, "takes over")
	next.ExtraFiles = []*os.File{f}
	next.Stdin = os.Stdin
	next.Stdout = os.Stdout // it says that it serves
	next.Stderr = os.Stderr
	if err := next.Start(); err != nil {
		return err
	}
	l.SetUnlinkOnClose(false)
	if err := l.Close(); err != nil {
		return err
	}
	<-served
	return next.Wait() // for the test, which waits for the first one
}

// answerAll answers requests of 8 bytes with this process's number and the request, until the listener is closed and
// all connections have ended.
func answerAll(l *Listener) {
	var conns sync.WaitGroup
	defer conns.Wait()
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		conns.Go(func() {
			defer c.Close()
			b := binary.LittleEndian.AppendUint64(nil, uint64(os.Getpid()))
			b = append(b, make([]byte, 8)...)
			for {
				if _, err := io.ReadFull(c, b[8:]); err != nil {
					return
				}
				if _, err := c.Write(b); err != nil {
					return
				}
			}
		})
	}
}

// TestGenerations: while clients make requests, up to a hundred on a connection, one process after the other hands its
// socket on to a successor and ends: no request fails.
func TestGenerations(t *testing.T) {
	requests := uint64(explore.Choose(5000, 100_000))
	const generations = 5
	path := filepath.Join(t.TempDir(), "s")
	first := start(t, "generation", path)
	first.expect(t, "serves")
	var asked, failed, last atomic.Uint64
	last.Store(math.MaxUint64)
	var mu sync.Mutex
	seen := map[uint64]int{}
	var clients sync.WaitGroup
	for i := range 8 {
		clients.Go(func() {
			for asked.Load() < last.Load() {
				answered, err := askSome(t.Context(), path, &asked, 1+i%2*99, &last)
				if err != nil {
					failed.Add(1)
					t.Error(err)
				}
				mu.Lock()
				for pid, n := range answered {
					seen[pid] += n
				}
				mu.Unlock()
			}
		})
	}
	for g := range uint64(generations - 1) {
		waittest.Until(t, "some requests have been made", func() bool { return asked.Load() >= requests*(g+1)/generations })
		if _, err := io.WriteString(first.stdin, "hand over\n"); err != nil {
			t.Fatal(err)
		}
		first.expect(t, "serves")
	}
	last.Store(asked.Load() + requests/generations) // more than connections to the generations before can carry
	clients.Wait()
	first.stdin.Close()
	if err := first.Wait(); err != nil {
		t.Errorf("a generation: %v", err)
	}
	sum := 0
	for _, n := range seen {
		sum += n
	}
	if failed.Load() > 0 || len(seen) != generations || sum < int(last.Load()) {
		t.Errorf("%d requests have failed; the generations have answered %v", failed.Load(), seen)
	}
	t.Logf("%d requests have been answered, by %v", sum, seen)
}

// askSome makes up to so many requests on a new connection, and returns how many each process has answered.
func askSome(ctx context.Context, path string, asked *atomic.Uint64, most int, last *atomic.Uint64) (map[uint64]int,
	error) {
	answered := map[uint64]int{}
	c, err := Dial(ctx, path)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	for range most {
		n := asked.Add(1)
		if n > last.Load() {
			break
		}
		if _, err := c.Write(binary.LittleEndian.AppendUint64(nil, n)); err != nil {
			return answered, err
		}
		var b [16]byte
		if _, err := io.ReadFull(c, b[:]); err != nil {
			return answered, err
		}
		if got := binary.LittleEndian.Uint64(b[8:]); got != n {
			return answered, fmt.Errorf("request %d is answered as %d", n, got)
		}
		answered[binary.LittleEndian.Uint64(b[:])]++
	}
	return answered, nil
}

// childActivated serves at what a supervisor has handed to it.
func childActivated(string, []string) error {
	os.Setenv("LISTEN_PID", strconv.Itoa(os.Getpid())) // which the test does not know beforehand
	cfg := new(Config)
	listeners, err := cfg.Activated()
	if err != nil || len(listeners) != 1 {
		return fmt.Errorf("%d listeners, %w", len(listeners), err)
	}
	if again, err := cfg.Activated(); err != nil || len(again) > 0 || os.Getenv("LISTEN_FDS") != "" {
		return fmt.Errorf("%d listeners again, %w", len(again), err)
	}
	say("at %s", listeners[0].Addr())
	c, err := listeners[0].Accept()
	if err != nil {
		return err
	}
	if _, err := io.CopyN(c, c, 5); err != nil {
		return err
	}
	return listeners[0].Close()
}

// TestActivated: a process serves at the socket that a supervisor has handed to it, and leaves its file.
func TestActivated(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	l, err := net.ListenUnix("unix", unixAddr(path)) // the supervisor's
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	f, err := l.File()
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	c := prepare(t, "activated", path)
	c.ExtraFiles = []*os.File{f}
	c.Env = append(c.Env, "LISTEN_FDS=1", "LISTEN_FDNAMES=app.socket")
	c.run(t)
	c.expect(t, "at "+path)
	d := dialConn(t, new(Config), path)
	defer d.Close()
	d.Write([]byte("hello"))
	if _, err := io.ReadFull(d, make([]byte, 5)); err != nil {
		t.Error(err)
	}
	if err := c.Wait(); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(path); err != nil {
		t.Error(err)
	}
}
