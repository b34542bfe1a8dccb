package bootstrap

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"
)

func within(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
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

// everySource runs a test on each kind of source.
func everySource(t *testing.T, n int, f func(t *testing.T, ctx context.Context, s []Source)) {
	t.Run("one process", func(t *testing.T) { f(t, within(t), NewLocal(n)) })
	t.Run("launched", func(t *testing.T) {
		s, _ := launched(t, n)
		f(t, within(t), s)
	})
}

func TestGetWaitsForPut(t *testing.T) {
	everySource(t, 3, func(t *testing.T, ctx context.Context, s []Source) {
		var wg sync.WaitGroup
		for i := range s {
			wg.Go(func() {
				for j := range s {
					if v, err := s[i].Get(ctx, j, "card"); err != nil || v != fmt.Sprint("card of ", j) {
						t.Errorf("rank %d got %q of rank %d: %v", i, v, j, err)
					}
				}
			})
		}
		for i := range s {
			if err := s[i].Put(ctx, "card", fmt.Sprint("card of ", i)); err != nil {
				t.Error(err)
			}
		}
		wg.Wait()
	})
}

func TestFence(t *testing.T) {
	everySource(t, 3, func(t *testing.T, ctx context.Context, s []Source) {
		var mu sync.Mutex
		come := make([]int, 3)
		var wg sync.WaitGroup
		for i := range s {
			wg.Go(func() {
				for round := 1; round <= 50; round++ {
					mu.Lock()
					come[i] = round
					mu.Unlock()
					if err := s[i].Fence(ctx); err != nil {
						t.Error(err)
						return
					}
					mu.Lock()
					for j, c := range come {
						if c < round {
							t.Errorf("rank %d passed fence %d before rank %d came", i, round, j)
						}
					}
					mu.Unlock()
				}
			})
		}
		wg.Wait()
	})
}

func TestContextEndsWaits(t *testing.T) {
	everySource(t, 2, func(t *testing.T, ctx context.Context, s []Source) {
		soon, cancel := context.WithTimeout(ctx, time.Millisecond)
		defer cancel()
		if _, err := s[0].Get(soon, 1, "never"); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("get: %v", err)
		}
		if err := s[0].Fence(soon); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("fence: %v", err)
		}
	})
}

// Deaths are told to all, also to those who listen later, and fences do not wait
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
	if got := <-heard; got != "2 its process has ended, and it had not left the job false" {
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

// That a program has returned is told to those who do not know, also to those who listen
// later.
func TestReturned(t *testing.T) {
	everySource(t, 3, func(t *testing.T, ctx context.Context, s []Source) {
		type news struct {
			to, of int
			cause  error
		}
		heard := make(chan news, 8)
		watch := func(to int) {
			s[to].Watch(func(of int, cause error) { heard <- news{to, of, cause} })
		}
		watch(0)
		watch(1)
		if err := s[1].Return([]int{0}); err != nil {
			t.Fatal(err)
		}
		if err := s[0].Return(nil); err != nil {
			t.Fatal(err)
		}
		watch(2)
		want := map[news]bool{{1, 0, ErrReturned}: true, {2, 1, ErrReturned}: true, {2, 0, ErrReturned}: true}
		for range len(want) {
			got := <-heard
			if !want[got] {
				t.Errorf("rank %d heard of rank %d: %v", got.to, got.of, got.cause)
			}
			delete(want, got)
		}
		select {
		case got := <-heard:
			t.Errorf("rank %d heard of rank %d, too: %v", got.to, got.of, got.cause)
		default:
		}
	})
}

func TestLauncherIsGone(t *testing.T) {
	a, b := net.Pipe()
	go func() {
		newConn(a).write(line{Op: "job", Job: &jobLine{Size: 1}})
		newConn(a).read()
		a.Close()
	}()
	s, err := Join(b)
	if err != nil {
		t.Fatal(err)
	}
	heard := make(chan int, 1)
	s.Watch(func(rank int, cause error) {
		if errors.Is(cause, ErrLauncher) {
			heard <- rank
		}
	})
	if _, err := s.Get(within(t), 0, "x"); !errors.Is(err, ErrLauncher) {
		t.Errorf("get: %v", err)
	}
	if rank := <-heard; rank != -1 {
		t.Errorf("rank %d", rank)
	}
	if err := s.Fence(within(t)); !errors.Is(err, ErrLauncher) {
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
