package bootstrap

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"weft/failure"
	"weft/internal/waittest"
)

func within(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), waittest.Patience)
	t.Cleanup(cancel)
	return ctx
}

// launched returns the sources of n ranks of one server.
func launched(t *testing.T, n int) ([]Source, *Server) {
	var jobs []Job
	for i := range n {
		jobs = append(jobs, Job{
			Rank: i, Size: n, ID: 42, Secret: []byte("secret"), Host: "here", Local: n, Crowd: n,
			Transport: "udp", Liveness: time.Second,
		})
	}
	s := NewServer(jobs)
	sources := make([]Source, n)
	for i := range n {
		a, b := net.Pipe()
		go s.Serve(i, a)
		l, err := Join(b)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { l.Close() })
		sources[i] = l
		if got := l.Job(); fmt.Sprint(got) != fmt.Sprint(jobs[i]) {
			t.Fatalf("rank %d was told %+v, not %+v", i, got, jobs[i])
		}
	}
	return sources, s
}

// Deaths are told to all, also to ranks that listen later, and fences do not wait
// for the dead.
func TestDeaths(t *testing.T) {
	s, server := launched(t, 4)
	heard := make(chan string, 8)
	s[0].Watch(func(rank int, cause error) { heard <- fmt.Sprint(rank, " ", cause, errors.Is(cause, ErrExited)) })
	server.Down(1, "signal: killed")
	if got := <-heard; got != "1 signal: killed false" {
		t.Errorf("heard %q", got)
	}
	server.Down(2, ErrExited.Error())
	if got := <-heard; got != "2 its process has ended before it left the job false" {
		t.Errorf("heard %q", got)
	}
	s[3].Close()
	server.Down(3, ErrExited.Error())
	if got := <-heard; got != "3 its program has ended true" {
		t.Errorf("heard %q", got)
	}
	if err := s[0].Fence(within(t)); err != nil {
		t.Errorf("a fence with the dead: %v", err)
	}
	late := make(chan int, 8)
	s[2].Watch(func(rank int, cause error) { late <- rank })
	if rank := <-late; rank != 1 {
		t.Errorf("heard of rank %d", rank)
	}
}

func TestLauncherIsGone(t *testing.T) {
	a, b := net.Pipe()
	go func() {
		newConn(a).write(line{Op: "job", Job: &Job{Size: 1}})
		newConn(a).read()
		a.Close()
	}()
	s, err := Join(b)
	if err != nil {
		t.Fatal(err)
	}
	heard := make(chan int, 1)
	s.Watch(func(rank int, cause error) {
		if errors.Is(cause, failure.ErrLauncher) {
			heard <- rank
		}
	})
	if _, err := s.Get(within(t), 0, "x"); !errors.Is(err, failure.ErrLauncher) {
		t.Errorf("get: %v", err)
	}
	if rank := <-heard; rank != -1 {
		t.Errorf("rank %d", rank)
	}
	if err := s.Fence(within(t)); !errors.Is(err, failure.ErrLauncher) {
		t.Errorf("fence: %v", err)
	}
}

// A server answers nonsense by ending the conversation.
func TestBadRanks(t *testing.T) {
	for _, text := range []string{
		"nonsense\n", "{}\n", `{"op":"what"}` + "\n", `{"op":"get","rank":9}` + "\n", `{"op":"get","rank":-1}` + "\n",
		strings.Repeat("x", maxLine+10) + "\n", strings.Repeat(`{"op":"put","key":"k"}`+"\n", maxKeys+1),
	} {
		a, b := net.Pipe()
		done := make(chan error, 1)
		go func() { done <- NewServer([]Job{{Size: 1}}).Serve(0, a) }()
		go io.Copy(io.Discard, b)
		io.WriteString(b, text)
		b.Close()
		if err := <-done; !errors.Is(err, ErrProtocol) {
			t.Errorf("%.40q: %v", text, err)
		}
	}
}

func FuzzLine(f *testing.F) {
	f.Add([]byte(`{"op":"job","job":{"Rank":1,"Size":2,"Secret":"AAAA"}}` + "\n"))
	f.Add([]byte(`{"op":"get","seq":1,"rank":2,"key":"card"}` + "\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		c := newConn(stream{bytes.NewReader(b)})
		for {
			if _, err := c.read(); err != nil {
				return
			}
		}
	})
}

type stream struct{ io.Reader }

func (stream) Write(b []byte) (int, error) { return len(b), nil }
func (stream) Close() error                { return nil }

// A rank that joins late hears, if it asks, of the ranks whose programs have returned. Ranks that tell it themselves
// are left out: their messages come first.
func TestLateRankHearsWhatIsForIt(t *testing.T) {
	s := NewServer([]Job{{Size: 4}, {Rank: 1, Size: 4}, {Rank: 2, Size: 4}, {Rank: 3, Size: 4}})
	join := func(rank int) *Launched {
		a, b := net.Pipe()
		go s.Serve(rank, a)
		l, err := Join(b)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { l.Close() })
		return l
	}
	for rank, told := range [][]int{{3}, {2}} {
		l := join(rank)
		if err := errors.Join(l.Return(told), l.Put(t.Context(), "returned", "")); err != nil {
			t.Fatal(err)
		}
	}
	late := join(2)
	for rank := range 2 {
		if _, err := late.Get(t.Context(), rank, "returned"); err != nil {
			t.Fatal(err)
		}
	}
	heard := make(chan int, 4)
	last := join(3)
	last.Await(Every)
	last.Watch(func(rank int, cause error) { heard <- rank })
	if rank := <-heard; rank != 1 {
		t.Errorf("rank 3 heard of rank %d, which has messages for it", rank)
	}
}

// A question that comes while an earlier one is being sent is asked, too.
func TestEveryQuestionIsAsked(t *testing.T) {
	s := NewServer([]Job{{Size: 1}})
	a, b := net.Pipe() // a write ends when it has been read
	defer b.Close()
	go s.Serve(0, a)
	c := newConn(b)
	if l, err := c.read(); l.Op != "job" || err != nil {
		t.Fatal(l, err)
	}
	if err := errors.Join(c.write(line{Op: "put", Key: "here"}), c.write(line{Op: "get", Key: "here"})); err != nil {
		t.Fatal(err)
	}
	if l, err := c.read(); l.Op != "value" || err != nil { // the rank is registered
		t.Fatal(l, err)
	}
	const askers = 3
	answers := make(chan string, askers)
	for range askers {
		go func() { answers <- s.State(within(t))[0] }()
	}
	for range askers {
		l, err := c.read()
		if l.Op != "state" || err != nil {
			t.Fatal(l, err)
		}
		if err := c.write(line{Op: "stated", Seq: l.Seq, Value: "computes"}); err != nil {
			t.Fatal(err)
		}
	}
	for range askers {
		if got := <-answers; got != "computes" {
			t.Errorf("an asker got %q", got)
		}
	}
}

// A rank that is asked before it can answer answers as soon as it can, and does not count as stopped.
func TestQuestionBeforeAnswer(t *testing.T) {
	a, b := net.Pipe()
	server := newConn(a)
	defer a.Close()
	go func() { _ = server.write(line{Op: "job", Job: &Job{Size: 1}}) }() // Join reads it
	l, err := Join(b)
	if err != nil {
		t.Fatal(err)
	}
	const early = mostAsked + 2
	for i := range early {
		if err := server.write(line{Op: "state", Seq: uint64(i)}); err != nil {
			t.Fatal(err)
		}
	}
	if err := server.write(line{Op: "told"}); err != nil { // the questions before have been taken
		t.Fatal(err)
	}
	l.Answer(func() string { return "computes" })
	answered := map[uint64]bool{}
	for range mostAsked {
		got, err := server.read()
		if err != nil || got.Op != "stated" || got.Value != "computes" || got.Seq < early-mostAsked {
			t.Fatalf("%+v, %v", got, err)
		}
		answered[got.Seq] = true
	}
	if len(answered) != mostAsked {
		t.Errorf("answered: %v", answered)
	}
}

// TestCallAfterClose: for a rank that has left, the launcher is gone, whichever goroutine notices first.
func TestCallAfterClose(t *testing.T) {
	sources, _ := launched(t, 1)
	for _, s := range sources {
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if err := s.Fence(t.Context()); !errors.Is(err, failure.ErrLauncher) {
			t.Errorf("Fence after Close: %v", err)
		}
	}
}
