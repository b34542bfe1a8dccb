package bootstrap

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"maps"
	"os"
	"sync"
)

// NewSecret returns a new job secret.
func NewSecret() []byte {
	b := make([]byte, 32)
	rand.Read(b)
	return b
}

// NewID returns a new job number.
func NewID() uint64 {
	var b [8]byte
	rand.Read(b[:])
	return binary.LittleEndian.Uint64(b[:])
}

// NewLocal returns the sources of n ranks that live in this process. A job of
// one is NewLocal(1)[0].
func NewLocal(n int) []Source {
	host, err := os.Hostname()
	if err != nil {
		host = "localhost"
	}
	l := &local{size: n, values: map[string]string{}, watches: map[int]func(int, error){}, departures: NewDepartures(n)}
	l.changed.L = &l.mu
	id := NewID()
	secret := NewSecret()
	sources := make([]Source, n)
	for i := range sources {
		sources[i] = &localSource{l, Job{Rank: i, Size: n, ID: id, Secret: secret, Host: host, Local: n, Crowd: n}, 0, nil}
	}
	return sources
}

// local is what the ranks of one process share.
type local struct {
	size    int
	mu      sync.Mutex
	changed sync.Cond
	values  map[string]string
	fenced  int // calls of Fence so far
	watches map[int]func(rank int, cause error)

	departures *Departures
	untold     []Notice // to ranks that do not watch yet
}

// A localSource is one of them. It implements Source.
type localSource struct {
	*local
	job    Job
	fences int
	failed error // why the rank has failed, or nil
}

// Answer does nothing: nobody asks.
func (s *localSource) Answer(state func() string) {}

func (s *localSource) Job() Job { return s.job }

func (s *localSource) Put(ctx context.Context, key, value string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.values[name(s.job.Rank, key)] = value
	s.changed.Broadcast()
	return nil
}

func (s *localSource) Get(ctx context.Context, rank int, key string) (value string, err error) {
	err = s.wait(ctx, func() bool {
		v, ok := s.values[name(rank, key)]
		value = v
		return ok
	})
	return value, err
}

func (s *localSource) Fence(ctx context.Context) error {
	s.mu.Lock()
	s.fences++
	s.fenced++
	until := s.fences * s.size
	s.changed.Broadcast()
	s.mu.Unlock()
	return s.wait(ctx, func() bool { return s.fenced >= until })
}

// wait returns when cond holds or ctx has ended.
func (s *localSource) wait(ctx context.Context, cond func() bool) error {
	stop := context.AfterFunc(ctx, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.changed.Broadcast()
	})
	defer stop()
	s.mu.Lock()
	defer s.mu.Unlock()
	for !cond() {
		if err := ctx.Err(); err != nil {
			return err
		}
		s.changed.Wait()
	}
	return nil
}

func (s *localSource) Return(told []int) error {
	s.mu.Lock()
	news := s.departures.Returned(s.job.Rank, told)
	s.mu.Unlock()
	s.tell(news)
	return nil
}

// Await tells of programs that have returned.
func (s *localSource) Await(rank int) {
	s.mu.Lock()
	news := s.departures.Await(s.job.Rank, rank)
	s.mu.Unlock()
	s.tell(news)
}

// tell gives notices to the ranks that watch, and keeps the others until they do.
func (l *local) tell(news []Notice) {
	for _, n := range news {
		l.mu.Lock()
		watch := l.watches[n.To]
		if watch == nil {
			l.untold = append(l.untold, n)
		}
		l.mu.Unlock()
		if watch == nil {
			continue
		}
		for _, of := range n.Of {
			watch(of, ErrReturned)
		}
	}
}

// Watch tells of programs that have returned: the processes end together.
func (s *localSource) Watch(down func(rank int, cause error)) {
	s.mu.Lock()
	s.watches[s.job.Rank] = down
	untold := s.untold
	s.untold = nil
	s.mu.Unlock()
	go s.tell(untold)
}

func (s *localSource) Fail(cause string, because int) { s.failed = errors.New(cause) }

// Close tells the other ranks of a failure; in good order they end together.
func (s *localSource) Close() error {
	if s.failed == nil {
		return nil
	}
	s.mu.Lock()
	watches := maps.Clone(s.watches)
	news := s.departures.Ended(s.job.Rank)
	s.mu.Unlock()
	delete(watches, s.job.Rank)
	for _, watch := range watches {
		watch(s.job.Rank, s.failed)
	}
	s.tell(news)
	return nil
}
