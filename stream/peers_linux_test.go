package stream

import (
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"weft/internal/waittest"
)

func listenAt(t testing.TB, cfg *Config) *Listener {
	t.Helper()
	l, err := cfg.listenPath(t.Context(), filepath.Join(t.TempDir(), "s"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

// A peer that is killed: what it had written is read, then reading and writing fail, also
// calls that wait already, however they wait.
func TestDeath(t *testing.T) {
	for name, cfg := range configs {
		t.Run(name, func(t *testing.T) {
			l := listenAt(t, cfg)
			const written = 10000
			child := start(t, "write", l.Addr().String(), "10000")
			c, err := l.Accept()
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			child.expect(t, "written")
			if _, err := c.Write([]byte{1}); err != nil { // the child does not read it
				t.Fatal(err)
			}
			type result struct {
				n   int64
				err error
			}
			read := make(chan result)
			wrote := make(chan result)
			go func() {
				n, err := io.Copy(struct{ io.Writer }{io.Discard}, struct{ io.Reader }{c})
				read <- result{n, err}
			}()
			go func() {
				n, err := c.Write(make([]byte, 1<<20))
				wrote <- result{int64(n), err}
			}()
			child.Process.Kill()
			if r := <-read; r.n != written || !errors.Is(r.err, syscall.ECONNRESET) {
				t.Errorf("read %d bytes, and then %v", r.n, r.err)
			}
			if r := <-wrote; !errors.Is(r.err, syscall.EPIPE) {
				t.Errorf("wrote %d bytes, and then %v", r.n, r.err)
			}
			if _, err := c.Write([]byte{1}); !errors.Is(err, syscall.EPIPE) {
				t.Errorf("a later Write: %v", err)
			}
		})
	}
}

// A peer whose process ends without Close, and has read all that was written to it, ends the stream as the kernel ends
// that of a Unix socket.
func TestEndOfProcess(t *testing.T) {
	l := listenAt(t, new(Config))
	for _, killed := range []bool{false, true} {
		child := start(t, "write", l.Addr().String(), "3")
		c, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		child.expect(t, "written")
		if killed {
			child.Process.Kill()
		} else {
			child.stdin.Close() // it ends
		}
		if b, err := io.ReadAll(c); len(b) != 3 || err != nil {
			t.Errorf("killed %v: read %d bytes, then %v", killed, len(b), err)
		}
		if _, err := c.Write([]byte{1}); !errors.Is(err, syscall.EPIPE) {
			t.Errorf("killed %v: Write: %v", killed, err)
		}
		c.Close()
	}
}

// A peer that is stopped holds a writer up until its deadline, with bounded memory, and
// harms nothing: when it goes on, everything does.
func TestStopped(t *testing.T) {
	l := listenAt(t, new(Config))
	child := start(t, "write", l.Addr().String(), "1")
	c, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	child.expect(t, "written")
	child.stop(t)
	if _, err := c.Write([]byte{1}); err != nil {
		t.Fatal(err)
	}
	c.SetWriteDeadline(waittest.Soon())
	if n, err := c.Write(make([]byte, 8*defaultBuffer)); !errors.Is(err, os.ErrDeadlineExceeded) || n > defaultBuffer {
		t.Errorf("wrote %d bytes: %v", n, err)
	}
	child.Process.Signal(syscall.SIGCONT)
	child.stdin.Close() // it ends
	if b, err := io.ReadAll(c); len(b) != 1 || !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("read %d bytes: %v", len(b), err)
	}
}

// serve accepts connections and echoes what they say, until the listener is closed.
func serve(l net.Listener) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		go func() {
			io.Copy(c, c)
			c.Close()
		}()
	}
}

// A listener that does not listen to weft alone: every client of the socket is served, and what says nothing or hangs
// up keeps nobody else out. A dialler takes every server, also one that speaks first.
func TestPlain(t *testing.T) {
	l := listenAt(t, new(Config))
	go serve(l)
	for _, say := range []string{"", "GET / HTTP/1.1\r\nHost: x\r\n\r\n", strings.Repeat("x", 100000)} {
		s, err := net.Dial("unix", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close() // some stay open
		go s.Write([]byte(say))
		b := make([]byte, len(say))
		if _, err := io.ReadFull(s, b); err != nil || string(b) != say {
			t.Errorf("%.20q is answered by %.20q, %v", say, b, err)
		}
	}
	echo(t, dialConn(t, new(Config), l.Addr().String()))

	path := filepath.Join(t.TempDir(), "s")
	plain, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer plain.Close()
	go func() {
		for {
			c, err := plain.Accept()
			if err != nil {
				return
			}
			c.Write([]byte("220 mail.example.org ready\r\n"))
			io.Copy(c, c)
			c.Close()
		}
	}()
	c := dialConn(t, new(Config), path)
	defer c.Close()
	banner := make([]byte, len("220 mail.example.org ready\r\n"))
	if _, err := io.ReadFull(c, banner); err != nil || !strings.HasPrefix(string(banner), "220 mail") {
		t.Errorf("%q, %v", banner, err)
	}
	echo(t, c)
}

// A process is refused by Allow, at either end.
func TestRefusals(t *testing.T) {
	no := &Config{Allow: func(p Peer) error {
		if p.PID != os.Getpid() || p.UID != os.Geteuid() {
			t.Errorf("%+v", p)
		}
		return errors.New("not today")
	}}
	told := make(chan error, 10)
	cfg := *no
	cfg.Refused = func(_ Peer, err error) { told <- err }
	l := listenAt(t, &cfg)
	go serve(l)
	path := l.Addr().String()
	if _, err := no.Dial(t.Context(), path); !errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), "not today") {
		t.Errorf("our Allow: %v", err)
	}
	c := dialConn(t, new(Config), path)
	defer c.Close()
	if _, err := c.Read(make([]byte, 1)); !errors.Is(err, ErrRefused) {
		t.Errorf("the listener's Allow, at Read: %v", err)
	}
	w := dialConn(t, new(Config), path)
	defer w.Close()
	var err error
	for err == nil {
		_, err = w.Write(make([]byte, 1000))
	}
	if !errors.Is(err, ErrRefused) {
		t.Errorf("the listener's Allow, at Write: %v", err)
	}
	if err := <-told; !strings.Contains(err.Error(), "not today") || l.Stats().Refused < 2 || l.Stats().Made > 0 {
		t.Errorf("Config.Refused is told %v; %+v", err, l.Stats())
	}
	if _, err := Dial(t.Context(), path+"x"); !errors.Is(err, syscall.ENOENT) {
		t.Errorf("nobody: %v", err)
	}
}

// Another user is refused by default, also where the socket's mode would let it in.
func TestOtherUsers(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root, to become another user")
	}
	l, err := Listen(t.Context(), "@"+t.Name()+t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go serve(l)
	child := start(t, "user", l.Addr().String())
	if !child.lines.Scan() || !strings.Contains(child.lines.Text(), "does not allow this process") {
		t.Errorf("the other user is told %q", child.lines.Text())
	}
}

// A listener without descriptors lets further connections wait, and goes on when it has some again.
func TestNoDescriptors(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	child := start(t, "full", path)
	child.expect(t, "listening")
	var conns []*Conn
	for range 40 { // of a process with 24 descriptors
		conns = append(conns, dialConn(t, new(Config), path))
	}
	for _, c := range conns {
		echo(t, c)
		c.Close()
	}
}

// A listener that can make no memory serves on its sockets.
func TestNoMemory(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	start(t, "bare", path).expect(t, "listening")
	c := dialConn(t, new(Config), path)
	defer c.Close()
	for range 3 * enough / callWork {
		echo(t, c)
	}
	if c.mem != nil {
		t.Error("there is memory")
	}
}

// A process that has no descriptors left is told so by Dial, keeps the connections that it has, and
// can dial again when it has closed some.
func TestDiallerWithoutDescriptors(t *testing.T) {
	l := listenAt(t, new(Config))
	go serve(l)
	child := start(t, "poor", l.Addr().String())
	if !child.lines.Scan() || !strings.Contains(child.lines.Text(), "too many open files") &&
		!strings.Contains(child.lines.Text(), "ulimit -n") {
		t.Errorf("the child is told %q", child.lines.Text())
	}
	child.expect(t, "again")
}

// A listener whose process is stopped holds a call up until its deadline, and serves again when it goes on.
func TestStoppedListener(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	child := start(t, "full", path)
	child.expect(t, "listening")
	child.stop(t)
	c := dialConn(t, new(Config), path)
	c.SetReadDeadline(waittest.Soon())
	if _, err := c.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("Read: %v", err)
	}
	child.Process.Signal(syscall.SIGCONT)
	c.SetReadDeadline(time.Time{})
	echo(t, c)
	c.Close()
}

// A peer over TCP that is stopped harms nothing until it is killed: that is ECONNRESET, after what it
// had written.
func TestTLSDeath(t *testing.T) {
	cfg := &Config{Key: noise(MinKey)}
	l, err := cfg.Listen(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	child := start(t, "tls", l.Addr().String())
	c, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	child.expect(t, "written")
	child.stop(t)
	c.SetWriteDeadline(waittest.Soon())
	for err = nil; err == nil; {
		_, err = c.Write(make([]byte, 1<<20))
	}
	if !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("Write to a process that is stopped: %v", err)
	}
	child.Process.Kill()
	if b, err := io.ReadAll(c); string(b) != "last words" || !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("read %q, and then %v", b, err)
	}
}

// A listener whose process was killed leaves its socket's file: the next one replaces it,
// and of several at once exactly one.
func TestStaleSocket(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	left, err := net.ListenUnix("unix", &net.UnixAddr{Name: path})
	if err != nil {
		t.Fatal(err)
	}
	left.SetUnlinkOnClose(false)
	left.Close()
	const n = 8
	made := make(chan *Listener, n)
	failed := make(chan error, n)
	for range n {
		go func() {
			l, err := new(Config).listenPath(t.Context(), path)
			if err != nil {
				failed <- err
				return
			}
			made <- l
		}()
	}
	for range n - 1 {
		if err := <-failed; !errors.Is(err, syscall.EADDRINUSE) {
			t.Error(err)
		}
	}
	l := <-made
	c, err := Dial(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	c.Close()
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the socket's file is left: %v", err)
	}
	if _, err := l.Accept(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("Accept after Close: %v", err)
	}
}
