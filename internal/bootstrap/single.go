package bootstrap

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"maps"
	"os"
	"slices"
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
	l := &local{size: n, values: map[string]string{}, watches: map[int]func(int, error){}, left: map[int][]int{}}
	l.changed.L = &l.mu
	id := NewID()
	secret := NewSecret()
	sources := make([]Source, n)
	for i := range sources {
		sources[i] = &localSource{l, Job{Rank: i, Size: n, ID: id, Secret: secret, Host: host, Local: n, Crowd: n}, 0}
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
	left    map[int][]int // of ranks whose programs have returned: ranks that they tell themselves
}

// A localSource is one of them. It implements Source.
type localSource struct {
	*local
	job    Job
	fences int
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
	s.left[s.job.Rank] = told
	watches := maps.Clone(s.watches)
	s.mu.Unlock()
	for rank, watch := range watches {
		if rank != s.job.Rank && !slices.Contains(told, rank) {
			watch(s.job.Rank, ErrReturned)
		}
	}
	return nil
}

// Watch tells of programs that have returned: the processes end together.
func (s *localSource) Watch(down func(rank int, cause error)) {
	s.mu.Lock()
	s.watches[s.job.Rank] = down
	left := maps.Clone(s.left)
	s.mu.Unlock()
	go func() {
		for _, rank := range slices.Sorted(maps.Keys(left)) {
			if !slices.Contains(left[rank], s.job.Rank) {
				down(rank, ErrReturned)
			}
		}
	}()
}

// Fail does nothing: the processes end together.
func (s *localSource) Fail(cause string) {}

func (s *localSource) Close() error { return nil }
