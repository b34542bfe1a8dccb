package pmi

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"weft/internal/waittest"
)

// A server is a process manager as simple as can be, with the ways of a real one.
type server struct {
	size  int
	minor string // the subversion that it answers to version 1.1
	found bool   // found=TRUE is appended to values

	mu     sync.Mutex
	values map[string]string
	out    []func() // barriers to be ended
}

// serve speaks with one process.
func (s *server) serve(c net.Conn) {
	defer c.Close()
	in := bufio.NewReader(c)
	for {
		text, err := in.ReadString('\n')
		if err != nil {
			return
		}
		said := parseLine(text)
		switch said["cmd"] {
		case "initack":
			fmt.Fprintf(c, "cmd=initack\ncmd=set size=%d\ncmd=set rank=%s\ncmd=set debug=0\n", s.size, said["pmiid"])
		case "init":
			fmt.Fprintf(c, "cmd=response_to_init rc=0 pmi_version=1 pmi_subversion=%s\n", s.minor)
		case "get_my_kvsname":
			fmt.Fprint(c, "cmd=my_kvsname kvsname=kvs_1_0\n")
		case "put":
			s.put(said["key"], said["value"])
			fmt.Fprint(c, "cmd=put_result rc=0 msg=success\n")
		case "get":
			value, ok := s.get(said["key"])
			switch {
			case !ok:
				fmt.Fprint(c, "cmd=get_result rc=-1 msg=key_nokey_not_found value=unknown\n")
			case s.found:
				fmt.Fprintf(c, "cmd=get_result rc=0 msg=success value=%s found=TRUE\n", value)
			default:
				fmt.Fprintf(c, "cmd=get_result value=%s msg=success rc=0\n", value)
			}
		case "barrier_in":
			s.barrier(func() { fmt.Fprint(c, "cmd=barrier_out\n") })
		case "finalize":
			fmt.Fprint(c, "cmd=finalize_ack\n")
		default:
			fmt.Fprint(c, "cmd=what\n")
		}
	}
}

func (s *server) put(key, value string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.values == nil {
		s.values = map[string]string{}
	}
	s.values[key] = value
}

func (s *server) get(key string) (string, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	v, ok := s.values[key]
	return v, ok
}

func (s *server) barrier(out func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.out = append(s.out, out); len(s.out) == s.size {
		for _, f := range s.out {
			f()
		}
		s.out = nil
	}
}

// pair returns a client's descriptor, and the server's end.
func pair(t *testing.T) (fd string, server net.Conn) {
	t.Helper()
	l, err := net.Listen("unix", t.TempDir()+"/s")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	c, err := net.Dial("unix", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	f, err := c.(*net.UnixConn).File() // which Open takes
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	if server, err = l.Accept(); err != nil {
		t.Fatal(err)
	}
	inherited, err := dup(f)
	if err != nil {
		t.Fatal(err)
	}
	return strconv.Itoa(inherited), server
}

var servers = map[string]*server{
	"1.1":                    {minor: "1"},
	"1.1 and found=TRUE":     {minor: "1", found: true},
	"1.2 to a client of 1.1": {minor: "2", found: true},
}

// All ranks put, come to the fence, and get what all have put, from every kind of server.
func TestPutFenceGet(t *testing.T) {
	for name, s := range servers {
		for _, how := range []string{"descriptor", "port"} {
			t.Run(name+", "+how, func(t *testing.T) {
				s := &server{size: 3, minor: s.minor, found: s.found}
				l, err := net.Listen("tcp", "127.0.0.1:0")
				if err != nil {
					t.Fatal(err)
				}
				defer l.Close()
				var wg sync.WaitGroup
				for i := range s.size {
					a := Address{Port: l.Addr().String(), ID: strconv.Itoa(i)}
					if how == "descriptor" {
						fd, c := pair(t)
						a = Address{FD: fd, Rank: strconv.Itoa(i), Size: "3", Job: "7.0"}
						go s.serve(c)
					} else {
						go func() {
							if c, err := l.Accept(); err == nil {
								s.serve(c)
							}
						}()
					}
					wg.Go(func() { talk(t, a, i) })
				}
				wg.Wait()
			})
		}
	}
}

// talk is a whole conversation.
func talk(t *testing.T, a Address, rank int) {
	ctx, cancel := context.WithTimeout(t.Context(), waittest.Patience)
	defer cancel()
	c, err := Open(ctx, a)
	if err != nil {
		t.Error(err)
		return
	}
	if c.Rank() != rank || c.Size() != 3 || c.Job() == "" {
		t.Errorf("rank %d of %d, job %q", c.Rank(), c.Size(), c.Job())
	}
	value := strings.Repeat(strconv.Itoa(rank), MaxValue)
	if err := errors.Join(c.Put(ctx, fmt.Sprint("key-", rank), value), c.Fence(ctx)); err != nil {
		t.Error(err)
	}
	for i := range 3 {
		v, found, err := c.Get(ctx, fmt.Sprint("key-", i))
		if err != nil || !found || v != strings.Repeat(strconv.Itoa(i), MaxValue) {
			t.Errorf("rank %d got %.10q of rank %d: %v, %v", rank, v, i, found, err)
		}
	}
	if v, found, err := c.Get(ctx, "nokey"); err != nil || found {
		t.Errorf("nokey: %q, %v, %v", v, found, err)
	}
	if err := c.Finalize(ctx); err != nil {
		t.Error(err)
	}
}

// A context ends a fence to which others do not come.
func TestContextEndsFence(t *testing.T) {
	fd, conn := pair(t)
	go (&server{size: 2, minor: "1"}).serve(conn)
	c, err := Open(t.Context(), Address{FD: fd, Rank: "0", Size: "2"})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if err := c.Fence(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
}

func TestBadAddresses(t *testing.T) {
	for want, a := range map[string]Address{
		"neither PMI_FD nor PMI_PORT": {},
		"is no descriptor":            {FD: "two"},
		"is no socket":                {FD: "999999"},
		"PMI_ID=\"\"":                 {Port: listening(t)},
	} {
		if _, err := Open(t.Context(), a); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v", a, err)
		}
	}
}

func listening(t *testing.T) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l.Addr().String()
}

func TestValues(t *testing.T) {
	c := &Client{}
	for _, v := range []string{"", "two words", "a;b", "line\n", "back\\slash", strings.Repeat("x", MaxValue+1)} {
		if err := c.Put(t.Context(), "key", v); err == nil {
			t.Errorf("%.10q was put", v)
		}
	}
}

// Whatever a server answers, a client ends, and does not panic.
func FuzzOne(f *testing.F) {
	f.Add([]byte("cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0\ncmd=my_kvsname kvsname=k\n" +
		"cmd=get_result rc=0 value=v found=TRUE\ncmd=barrier_out\n"))
	f.Add([]byte("cmd=initack\ncmd=set size=3\ncmd=set rank=x\n"))
	f.Fuzz(func(t *testing.T, b []byte) { converse(b, Address{Port: "x", ID: "1"}) })
}

// A server that speaks version 2 alone, or refuses, is told so.
func TestVersions(t *testing.T) {
	for answer, want := range map[string]error{
		"cmd=response_to_init pmi_version=2 pmi_subversion=0 rc=0\n":  ErrProtocol,
		"cmd=response_to_init pmi_version=2 pmi_subversion=0 rc=-1\n": ErrRefused,
	} {
		c := &Client{c: said{strings.NewReader(answer)}}
		c.in = bufio.NewReaderSize(c.c, maxLine)
		if err := c.begin(Address{FD: "3"}); !errors.Is(err, want) {
			t.Errorf("%q: %v", answer, err)
		}
	}
}

// converse runs a client against what a server has said beforehand.
func converse(b []byte, a Address) {
	c := &Client{c: said{bytes.NewReader(b)}, rank: -1, size: -1}
	c.in = bufio.NewReaderSize(c.c, maxLine)
	if c.begin(a) != nil {
		return
	}
	ctx := context.Background()
	_ = c.Put(ctx, "k", "v")
	_, _, _ = c.Get(ctx, "k")
	_ = c.Fence(ctx)
	_ = c.Finalize(ctx)
}

// The end of a process manager is told, but not after the client has said goodbye to it.
func TestWatch(t *testing.T) {
	for name, s := range servers {
		for _, goodbye := range []bool{false, true} {
			t.Run(fmt.Sprint(name, ", goodbye ", goodbye), func(t *testing.T) {
				s := &server{size: 1, minor: s.minor, found: s.found}
				fd, conn := pair(t)
				go s.serve(conn)
				c, err := Open(t.Context(), Address{FD: fd, Rank: "0", Size: "1", Job: "7.0"})
				if err != nil {
					t.Fatal(err)
				}
				gone := make(chan error, 1)
				c.Watch(func(cause error) { gone <- cause })
				if goodbye {
					if err := c.Finalize(t.Context()); err != nil {
						t.Error(err)
					}
					if <-c.quiet; len(gone) > 0 {
						t.Error(<-gone)
					}
					return
				}
				conn.Close()
				if err := <-gone; !strings.Contains(err.Error(), "the process manager is gone") {
					t.Error(err)
				}
			})
		}
	}
}

// said is a connection whose other side has spoken already.
type said struct{ io.Reader }

func (said) Write(b []byte) (int, error)      { return len(b), nil }
func (said) Close() error                     { return nil }
func (said) LocalAddr() net.Addr              { return nil }
func (said) RemoteAddr() net.Addr             { return nil }
func (said) SetDeadline(time.Time) error      { return nil }
func (said) SetReadDeadline(time.Time) error  { return nil }
func (said) SetWriteDeadline(time.Time) error { return nil }
