package rendezvous

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"weft/failure"
	"weft/internal/bootstrap"
	"weft/internal/bootstrap/bootstraptest"
	"weft/internal/handshake"
	"weft/internal/waittest"
)

var secret = []byte("the secret of a test")

// rank is what a rank of the tests' job says of itself.
func rank(i, size int) bootstrap.Member {
	return bootstrap.Member{Version: bootstrap.Version, Rank: i, Size: size, Label: "job", Host: "here", Machine: "this"}
}

// serve starts a store on a port of its own.
func serve(t *testing.T, size int, notice func(string)) (*Store, string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := Serve(l, Config{Job: bootstrap.Job{Size: size}, Member: rank(0, size), Secret: secret, Notice: notice})
	t.Cleanup(s.Close)
	return s, l.Addr().String()
}

// looking is how a rank finds a store.
func looking(m bootstrap.Member, addresses ...string) Dialling {
	return Dialling{
		Addresses: func(context.Context) ([]string, error) { return addresses, nil },
		Member:    m, Secret: secret, Notice: func(string) {},
	}
}

// job starts a job of n ranks, and returns their sources.
func job(t *testing.T, n int) ([]bootstrap.Source, *Store) {
	t.Helper()
	s, address := serve(t, n, func(string) {})
	sources := make([]bootstrap.Source, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			var l *bootstrap.Launched
			var err error
			if i == 0 {
				l, err = s.Join(t.Context())
			} else {
				l, err = Dial(t.Context(), looking(rank(i, n), address))
			}
			if err != nil {
				t.Error(err)
				return
			}
			t.Cleanup(func() { l.Close() })
			sources[i] = l
		})
	}
	wg.Wait()
	if t.Failed() {
		t.FailNow()
	}
	return sources, s
}

func TestStore(t *testing.T) {
	bootstraptest.Run(t, func(t *testing.T, n int) ([]bootstrap.Source, func(int)) {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		var mu sync.Mutex
		conns := map[string]net.Conn{} // by the address of the other end
		counting := listener{l, func(c net.Conn) {
			mu.Lock()
			defer mu.Unlock()
			conns[c.RemoteAddr().String()] = c
		}}
		s := Serve(counting, Config{Job: bootstrap.Job{Size: n}, Member: rank(0, n), Secret: secret, Notice: func(string) {}})
		t.Cleanup(s.Close)
		sources := make([]bootstrap.Source, n)
		at := make([]string, n)
		var wg sync.WaitGroup
		for i := range n {
			wg.Go(func() {
				d := looking(rank(i, n), l.Addr().String())
				var j *bootstrap.Launched
				var err error
				if i == 0 {
					j, err = s.Join(t.Context())
				} else {
					j, at[i], err = dialFrom(t.Context(), d)
				}
				if err != nil {
					t.Error(err)
					return
				}
				sources[i] = j
				t.Cleanup(func() { j.Close() })
			})
		}
		wg.Wait()
		return sources, func(rank int) {
			mu.Lock()
			defer mu.Unlock()
			conns[at[rank]].Close()
		}
	})
}

// dialFrom is Dial, and returns where this side of the connection is.
func dialFrom(ctx context.Context, d Dialling) (*bootstrap.Launched, string, error) {
	addresses, _ := d.Addresses(ctx)
	c, err := net.Dial("tcp", addresses[0])
	if err != nil {
		return nil, "", err
	}
	said, err := handshake.Pair{Secret: d.Secret, Dialler: uint32(d.Member.Rank)}.Dial(c, protocol)
	if err != nil {
		return nil, "", err
	}
	l, err := bootstrap.Enter(ctx, newStream(c, said, true), d.Member)
	return l, c.LocalAddr().String(), err
}

// A listener tells of the connections that it accepts.
type listener struct {
	net.Listener
	accepted func(net.Conn)
}

func (l listener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err == nil {
		l.accepted(c)
	}
	return c, err
}

// Ranks that come before the store, and by names that are not known yet, find it.
func TestDialWaits(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	l.Close() // and nobody listens for now
	rounds := make(chan int, 100)
	d := looking(rank(1, 2))
	n := 0
	d.Addresses = func(context.Context) ([]string, error) {
		n++
		rounds <- n
		if n < 3 {
			return []string{"no-such-name.invalid:1"}, nil
		}
		return []string{"no-such-name.invalid:1", address}, nil
	}
	found := make(chan error)
	go func() {
		j, err := Dial(t.Context(), d)
		if err == nil {
			j.Close()
		}
		found <- err
	}()
	for <-rounds < 4 {
	}
	if l, err = net.Listen("tcp", address); err != nil {
		t.Skip(err) // somebody else has the port now
	}
	s := Serve(l, Config{Job: bootstrap.Job{Size: 2}, Member: rank(0, 2), Secret: secret, Notice: func(string) {}})
	defer s.Close()
	if _, err := s.Join(t.Context()); err != nil {
		t.Error(err)
	}
	if err := <-found; err != nil {
		t.Error(err)
	}
}

// A rank that has not found the store says so after ten seconds, and why, and goes on until its
// context ends.
func TestDialTells(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), waittest.Patience)
		defer cancel()
		var told []string
		d := looking(rank(3, 4))
		d.Addresses = func(context.Context) ([]string, error) { return nil, errors.New("nobody has published any") }
		d.Notice = func(text string) { told = append(told, text) }
		_, err := Dial(ctx, d)
		if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "nobody has published any") {
			t.Errorf("%v", err)
		}
		if len(told) != 1 || told[0] != "rank 3 is looking for rank 0: nobody has published any" {
			t.Errorf("%q", told)
		}
	})
}

// Another secret is no error at once: the store may be that of a job that is about to end.
func TestWrongSecret(t *testing.T) {
	told := make(chan string, 8)
	_, address := serve(t, 2, func(text string) { told <- text })
	d := looking(rank(1, 2), address)
	d.Secret = []byte("another secret of a test")
	for range 2 {
		if _, err := d.round(t.Context()); !errors.Is(err, failure.ErrSecret) {
			t.Errorf("%v", err)
		}
	}
	if text := <-told; !strings.Contains(text, "or a rank with another WEFT_SECRET") {
		t.Errorf("rank 0 is told %q", text)
	}
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		d.Addresses = func(context.Context) ([]string, error) { return nil, failure.ErrSecret }
		_, err := Dial(t.Context(), d)
		if took := time.Since(began); !errors.Is(err, failure.ErrSecret) || took < patience || took > patience+2*longPause {
			t.Errorf("%v after %v", err, took)
		}
	})
}

// Two jobs want the same port: ranks find their own by what the launcher calls it.
func TestTwoJobs(t *testing.T) {
	_, other := serve(t, 2, func(string) {})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	mine := rank(0, 2)
	mine.Label = "job 2"
	s := Serve(l, Config{Job: bootstrap.Job{Size: 2}, Member: mine, Secret: secret, Notice: func(string) {}})
	defer s.Close()
	found := make(chan error)
	go func() {
		m := rank(1, 2)
		m.Label = "job 2"
		_, err := Dial(t.Context(), looking(m, other, l.Addr().String()))
		found <- err
	}()
	if _, err := s.Join(t.Context()); err != nil {
		t.Error(err)
	}
	if err := <-found; err != nil {
		t.Error(err)
	}
}

// Strangers of all kinds neither stop the store nor make it hold what they like.
func TestStrangers(t *testing.T) {
	const size = 4
	s, address := serve(t, size, func(string) {})
	var open []net.Conn
	defer func() {
		for _, c := range open {
			c.Close()
		}
	}()
	for i := range 1500 {
		c, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		switch open = append(open, c); i % 5 {
		case 0: // half a connection: says nothing
		case 1:
			io.WriteString(c, "GET / HTTP/1.1\r\nHost: rank-0\r\n\r\n")
		case 2:
			b := make([]byte, 4096)
			rand.Read(b)
			c.Write(b)
		case 3: // a hello, and no proof
			c.Write(handshake.Pair{Secret: secret, Dialler: 1}.Call(protocol).Hello()) // that of a rank, repeated
		case 4: // a hello, and a wrong proof
			c.Write(handshake.Pair{Secret: secret, Dialler: 1}.Call(protocol).Hello())
			c.Write(make([]byte, handshake.ProofSize))
		}
	}
	var wg sync.WaitGroup
	for i := range size - 1 {
		wg.Go(func() {
			l, err := Dial(t.Context(), looking(rank(i+1, size), address))
			if err != nil {
				t.Error(err)
				return
			}
			defer l.Close()
			if err := l.Fence(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	l, err := s.Join(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if err := l.Fence(t.Context()); err != nil {
		t.Error(err)
	}
	wg.Wait()
}

// When the rank that serves is gone the others hear that it has died, and know what all had put
// before.
func TestServingRankDies(t *testing.T) {
	sources, s := job(t, 3)
	for i, one := range sources {
		if err := one.Put(t.Context(), "card", fmt.Sprint("card of ", i)); err != nil {
			t.Fatal(err)
		}
	}
	for _, one := range sources {
		for i := range sources {
			if _, err := one.Get(t.Context(), i, "card"); err != nil {
				t.Fatal(err)
			}
		}
	}
	type news struct {
		of    int
		cause error
	}
	heard := make(chan news, 8)
	sources[1].Watch(func(of int, cause error) { heard <- news{of, cause} })
	s.Close() // as the end of its process does
	if got := <-heard; got.of != 0 || !errors.Is(got.cause, failure.ErrLauncher) {
		t.Errorf("heard %+v", got)
	}
	if v, err := sources[1].Get(t.Context(), 2, "card"); err != nil || v != "card of 2" {
		t.Errorf("%q, %v", v, err)
	}
	if err := sources[1].Fence(t.Context()); !errors.Is(err, failure.ErrLauncher) {
		t.Errorf("fence: %v", err)
	}
}
